// Trace: the path of each task's window, for narrow bands.
//
// Cell k of a row of the band lies at column band_first + row + k, so that the diagonal neighbour has the same
// place k, the upper one k + 1. The narrowest bands take one lane each, which goes down the rows with H and F of the
// row above in registers. Wider ones are shared by lanes side by side, of a few cells each: lane l does row r in
// step 2 * r + l, with E from the lane before, which did that row one step ago, and F from the lane behind, which
// then did the row above. Half of the lanes rest in a step, but a window takes a tenth of the time that one lane
// would, and where windows are few that is what counts.
//
// The lanes leave the directions of the row (src/engine/directions.rs says what the bits mean) beside those of
// their neighbours, and at last one walks back over them, as src/engine/traceback.rs does. Cells outside the band are
// worth less than any path inside; columns outside the target match nothing, so that H is 0 before it.
//
// Values of cell k of a row stand higher by EXTEND for each row and each column before it: then a gap's further
// residues cost nothing, and what is left of its first, OPEN, is the same for both kinds.
//
// All kinds of lanes stand in one kernel, since a dispatch waits for the one before.

// The windows of those of most lanes come first, as many in each workgroup as it has room for.
@group(0) @binding(0) var<storage, read> tasks: array<Task>;
@group(0) @binding(1) var<storage, read> queries: array<u32>;
@group(0) @binding(2) var<storage, read> targets: array<u32>;
// Runs of the paths from their ends (src/engine/paths.rs), a zero behind the last where there is room.
@group(0) @binding(5) var<storage, read_write> paths: array<u32>;
// Of each kind of lanes.
@group(0) @binding(8) var<storage, read> kinds: array<BandGroups>;
// Of each workgroup: [row][word of the row's cells in a lane][thread].
@group(0) @binding(6) var<storage, read_write> directions: array<u32>;

override MATCH: i32 = 1;
override MISMATCH: i32 = -1;
// What the first residue of a gap costs, and each further one.
override FIRST: i32 = 2;
override EXTEND: i32 = 1;
override OPEN: i32 = FIRST - EXTEND;

// Below all values, far from overflow.
const NEVER = -(1 << 30);

// E that a lane leaves to the one behind, and F to the one before, in even and odd steps; a place more at both ends.
var<workgroup> passed: array<vec2<i32>, 2u * (THREADS + 2u)>;

// A word of letters of the queries from `place` on, the first lowest.
fn query_letters(place: u32) -> u32 {
    let shift = place % LETTERS_PER_WORD * LETTER_BITS;
    return (queries[place / LETTERS_PER_WORD] >> shift) | ((queries[place / LETTERS_PER_WORD + 1u] << (32u - LETTER_BITS - shift)) << LETTER_BITS);
}

// A word of letters of the task's target from column `col` on, the first lowest.
fn band_letters(task: Task, col: i32) -> u32 {
    if (col <= -i32(LETTERS_PER_WORD) || col >= i32(task.cols)) {
        return NO_LETTERS;
    }
    let place = task.target_ + u32(max(col, 0));
    let shift = place % LETTERS_PER_WORD * LETTER_BITS;
    let letters = (targets[place / LETTERS_PER_WORD] >> shift) | ((targets[place / LETTERS_PER_WORD + 1u] << (32u - LETTER_BITS - shift)) << LETTER_BITS);
    // Less than a word's worth, so that no shift takes the whole word.
    let before = LETTER_BITS * u32(max(-col, 0));
    let first = (1u << before) - 1u;
    let behind = LETTER_BITS * u32(clamp(col + i32(LETTERS_PER_WORD) - i32(task.cols), 0, i32(LETTERS_PER_WORD) - 1));
    let last = ~(~0u >> behind);
    let kept = ~(first | last);
    return ((letters << before) & kept) | (NO_LETTERS & ~kept);
}

//!insert runs

// Walks through a window whose directions begin at `first`; those of a row lie `row_stride` words apart, its words
// `word_stride`.
fn walk(task: Task, first: u32, row_stride: u32, word_stride: u32, cells: i32) {
    var row = i32(task.rows) - 1;
    var place = i32(task.last);
//!insert path_begin
    while (row >= 0 && place >= 0 && place < cells) {
        let at = first + u32(row) * row_stride + u32(place) / CELLS_PER_WORD * word_stride;
        let bits = directions[at] >> (CELL_BITS * (u32(place) % CELLS_PER_WORD));
//!insert path_step
        row -= select(1, 0, layer == DELETION);
        place += select(0, 1, layer == INSERTION) - select(0, 1, layer == DELETION);
    }
//!insert path_end
}

//!for traces
// The windows of a workgroup, from the task `first_task` on, with $lanes lanes of $rows cells each.
fn trace_$kind(first_task: u32, thread: u32) {
//!if APART
    let task = tasks[first_task + thread / $lanesu];
    let lane = thread % $lanesu;
//!else
    let task = tasks[first_task + thread];
    if (task.rows == 0u) {
        return;
    }
    let lane = 0u;
//!end
    let first_col = task.first_col + i32(lane * $rowsu);
    // Where the lane's first cell of a row stands.
    var height = i32(lane * $rowsu) * EXTEND;
//!for rows
    var h$k = height + ($k - 2) * EXTEND;
    var f$k = NEVER;
//!end
//!for words
    var letters$w = band_letters(task, first_col + i32(LETTERS_PER_WORD) * $w);
//!end
    var entering = 0u;
    var query = 0u;
    var word = task.directions + thread;
//!if APART
    passed[thread + 1u] = vec2<i32>(NEVER, NEVER);
    passed[THREADS + 2u + thread + 1u] = vec2<i32>(NEVER, NEVER);
    workgroupBarrier();
    // The first window is the longest.
    let steps = 2u * tasks[first_task].rows + $lanesu;
    for (var step = 0u; step < steps; step++) {
        let slot = (step & 1u) * (THREADS + 2u) + thread;
        let slot_before = THREADS + 2u - (step & 1u) * (THREADS + 2u) + thread;
        // Wraps to a large number before the first row.
        let turn = step - lane;
        let row = turn / 2u;
        if (turn % 2u == 0u && row < task.rows) {
            var e = select(passed[slot_before].x, NEVER, lane == 0u);
            let f$end = select(passed[slot_before + 2u].y, NEVER, lane == $lanesu - 1u);
//!insert row
            passed[slot + 1u] = vec2<i32>(e, f0);
        }
        workgroupBarrier();
    }
    storageBarrier();
    workgroupBarrier();
    if (lane == 0u && task.rows > 0u) {
        walk(task, task.directions + thread, THREADS, 1u, $lanes * $rows);
    }
//!else
    let f$end = NEVER;
    for (var row = 0u; row < task.rows; row++) {
        var e = NEVER;
//!insert row
    }
    walk(task, task.directions + thread, $wordsu * THREADS, THREADS, $rows);
//!end
}
//!end

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    // Among the workgroups of a kind, once those of the kinds before are taken off.
    var number = group.y * grid.x + group.x;
    var first = 0u;
    var groups = 0u;
//!for traces
    groups = kinds[$kind].groups;
    if (number < groups) {
        trace_$kind(first + number * (THREADS / $lanesu), thread);
        return;
    }
    number -= groups;
    first += groups * (THREADS / $lanesu);
//!end
}
