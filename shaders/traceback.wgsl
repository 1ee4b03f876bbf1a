// Traceback: follows paths through the directions that fill kernels stored, one workgroup for each path, until the
// directions end.
//
// Tiles say where the directions of a cell are stored (src/engine/directions.rs). All tiles store the words of a lane
// contiguously: a path follows the rows of a lane, whose words then share a few cache lines. Most steps are diagonal,
// so each thread reads one cell of the diagonal ahead, and all threads then follow the path together through these
// cells. Reading single cells would wait for memory at each step.

@group(0) @binding($tasks) var<storage, read> tasks: array<Task>;
// Runs of the paths, from the end of each path (src/engine/paths.rs), followed by a zero if there is room. If
// requested, the rows and columns of the window that remain before the path, and its layer.
@group(0) @binding($output) var<storage, read_write> paths: array<u32>;
@group(0) @binding($table) var<storage, read> tiles: array<KeptTile>;
@group(0) @binding($scratch) var<storage, read_write> directions: array<u32>;

//!insert runs
// Marks a cell whose directions the tile does not have.
const NONE = CELL_MASK + 1u;

// Directions of the cells on the diagonal from the current cell of the path: of this step, and of the previous one, which other
// threads may still read.
var<workgroup> ahead: array<u32, 2u * THREADS>;

// Whether the path goes on. All threads know it, but WGSL demands one value for a loop with barriers.
var<workgroup> goes_on: u32;

// Returns whether the tile contains a cell of the window.
fn holds(tile: KeptTile, row: i32, col: i32) -> bool {
    return u32(row - tile.row) < tile.rows && u32(col) - tile.col < tile.cols;
}

// Returns the directions of a cell of the window.
fn directions_of(tile: KeptTile, row: i32, col: i32) -> u32 {
    if (!holds(tile, row, col)) {
        return NONE;
    }
    let lanes = tile.lanes;
    let rows_of_lane = tile.rows_per_lane;
    let tile_row = u32(row - tile.row);
    let lane = tile_row / rows_of_lane;
    let last_first = i32(tile.cols + lanes - 1u - tile.stored);
    let first = clamp(tile.band_first + i32(lane * (rows_of_lane + 1u)), 0, last_first);
    // Wraps to a large number before the band.
    let step = u32(col) - tile.col + lane - u32(first);
    if (step >= tile.stored) {
        return NONE;
    }
    let place = tile_row % rows_of_lane;
    let word = (lane * tile.stored + step) * ((rows_of_lane + (CELLS_PER_WORD - 1u)) / CELLS_PER_WORD) + place / CELLS_PER_WORD;
    return (directions[tile.directions + word] >> (CELL_BITS * (place % CELLS_PER_WORD))) & CELL_MASK;
}

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let number_of_path = group.y * grid.x + group.x;
    if (number_of_path >= arrayLength(&tasks)) {
        return;
    }
    var task = tasks[number_of_path];
    if (task.rows == 0u) {
        return;
    }
    if (thread > 0u) {
        // Only thread 0 has room for runs, so only it stores the path.
        task.path_words = 0u;
    }
    var row = i32(task.rows) - 1;
    var col = i32(task.cols) - 1;
    // The last tile contains the last cell of the window; from there a path usually continues in the previous tile.
    var number = task.tiles - 1u;
    var tile = tiles[task.first_tile + number];
//!insert path_begin
    layer = task.layer & SOURCE_MASK;
    piece = task.layer & PIECE_MASK;
    var first = 0u;
    loop {
        for (var seen = 0u; row >= 0 && col >= 0 && seen < task.tiles && !holds(tile, row, col); seen++) {
            number = select(number, task.tiles, number == 0u) - 1u;
            tile = tiles[task.first_tile + number];
        }
        let mine = directions_of(tile, row - i32(thread), col - i32(thread));
        ahead[first + thread] = mine;
        if (thread == 0u) {
            // A path finds no directions only after the last tile, because none leaves its band.
            goes_on = u32(row >= 0 && col >= 0 && layer != STOP && mine != NONE);
        }
        if (workgroupUniformLoad(&goes_on) == 0u) {
            break;
        }
        for (var place = 0u; place < THREADS; place++) {
            let bits = ahead[first + place];
            if (bits == NONE) {
                break;
            }
//!insert path_step
            row -= select(1, 0, layer == DELETION);
            col -= select(1, 0, layer == INSERTION);
            // The path has left the diagonal.
            if (layer != DIAGONAL) {
                break;
            }
        }
        first = THREADS - first;
    }
    // If the path continues elsewhere, its last position is stored instead.
    if (task.stand == NOWHERE) {
//!insert path_rest
    }
//!insert path_end
    if (thread == 0u && task.stand != NOWHERE) {
        paths[task.stand] = u32(row + 1);
        paths[task.stand + 1u] = u32(col + 1);
        paths[task.stand + 2u] = layer | piece;
    }
}
