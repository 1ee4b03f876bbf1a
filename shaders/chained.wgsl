// Chained strips: each strip waits for the edge values of the strip above while both run.

//!slot edge_items
//!insert edge_values
// Header: number of tasks taken, number of polls before a strip gives up, number of slots, columns of each slot,
// columns from one vertical line to the next (if there are lines), and edge values from one line to the next. The slots
// follow, with H and F of a strip's last row in each column. Strips use the slots in turn, so a mark in the low bits of
// each value names its strip. Strips that run concurrently never have the same mark in the same slot.
@group(0) @binding($chain) var<storage, read_write> chain: array<atomic<u32>>;

var<workgroup> taken: u32;

// Where a strip stores its last row: its mark, and the position of its first column.
struct Handed {
    mark: u32,
    place: u32,
}
fn handed(strip: u32, first_col: u32) -> Handed {
    let slots = atomicLoad(&chain[2]);
    let place = CHAIN_HEAD + (strip % slots * atomicLoad(&chain[3]) + first_col) * 2u;
    return Handed(strip / slots % (MARKS - 1u) + 1u, place);
}
// Each word carries its own mark, because the two stores are not ordered.
fn passed_down(place: u32) -> vec2<u32> {
    return vec2<u32>(atomicLoad(&chain[place]), atomicLoad(&chain[place + 1u]));
}
fn is_there(passed: vec2<u32>, mark: u32) -> bool {
    return all((passed & vec2<u32>(MARKS - 1u)) == vec2<u32>(mark));
}
// Marks are smaller than SCALE, of which all values are multiples.
const MARKS = u32(SCALE);
fn unmarked(passed: vec2<u32>) -> vec2<i32> {
    return bitcast<vec2<i32>>(passed & vec2<u32>(~(MARKS - 1u)));
}
//!insert chain_items

//!slot first_task
    // Tasks are taken in order, so the strip that this one waits for has already begun.
    if (thread == 0u) {
        taken = atomicAdd(&chain[0], 1u);
    }
    let first_task = workgroupUniformLoad(&taken);
    if (first_task >= arrayLength(&tasks) || tasks[first_task].cols == 0u) {
        return;
    }

//!slot left_edge
//!insert strip_places
    var corner = 0;
//!for rows
    var h$k = 0;
    var e$k = 0;
//!end
//!insert left_values

//!slot upper_edge
    // The edge above is read before the first lane reaches a column; the last lane overwrites it later.
    let last_col = max(task.cols, 1u) - 1u;
    // Waits for columns that the strip above stores; columns that no strip stores hold zeros.
    let entering_columns = task.entering;
    let entering_from = handed(task.result - 1u, task.chain);
    let leaving_to = handed(task.result, task.chain);
    let patience = atomicLoad(&chain[1]);
//!insert lines
    var gave_up = false;
//!insert first_run
