// Trace: the path of each task's window, for narrow bands.
//
// Cell k of a row of the band is in column band_first + row + k. So the diagonal neighbor has the same index k, and the
// upper neighbor has k + 1. The narrowest bands use one lane each, which moves down the rows with H and F of the row
// above in registers. Wider bands are shared by adjacent lanes of a few cells each. Lane l computes row r in step
// 2 * r + l. It gets E from lane l - 1, which computed row r one step ago, and F from lane l + 1, which computed the
// row above in that same step. Half of the lanes are idle in a step, but a window takes a tenth of the time that one
// lane would need, which matters if there are few windows.
//
// The lanes store the directions of the row (src/engine/directions.rs describes the bits) next to those of their
// neighbors. At the end one lane walks back over them, as src/engine/traceback.rs does. Cells outside the band score
// less than any path inside. Columns outside the target match nothing, so H is 0 before the target in local mode.
//
// In other modes H has no minimum, and the row above the first one holds the values of the border (Edges::at_borders in
// src/engine/block.rs). In the column before the target, the recurrence itself gives the gap of all rows above, because
// no other path gets there. Overlaps begin in this column, so H is at least 0 before the target.
//
// Cell k of a row is stored with EXTEND added for each row and each column before it. Further residues of a gap then
// cost nothing, and the remaining penalty of the first residue, OPEN, is the same for insertions and deletions. Under gap
// costs of several pieces this holds for the first piece, and each further residue of another piece adds the difference.
//
// One kernel contains all lane counts, because a dispatch waits for the previous one.

// Windows with the most lanes come first, and each workgroup takes as many windows as fit.
@group(0) @binding($tasks) var<storage, read> tasks: array<Task>;
@group(0) @binding($queries) var<storage, read> queries: array<u32>;
@group(0) @binding($targets) var<storage, read> targets: array<u32>;
// Runs of the paths, from the end of each path (src/engine/paths.rs), followed by a zero if there is room.
@group(0) @binding($output) var<storage, read_write> paths: array<u32>;
// For each lane count.
@group(0) @binding($table) var<storage, read> kinds: array<BandGroups>;
// For each workgroup: [row][word of the row's cells in a lane][thread].
@group(0) @binding($scratch) var<storage, read_write> directions: array<u32>;

override MATCH: i32 = 1;
override MISMATCH: i32 = -1;
// Score of a pair with an ambiguous base.
override AMBIGUOUS: i32 = -1;
// Bonus of a pair whose query base is an end of the query.
override END_BONUS: i32 = 0;
// Penalties of the first residue of a gap and of each further residue.
override FIRST: i32 = 2;
override EXTEND: i32 = 1;
//!for further
// The same of piece $p of the gap costs, counted from 0.
override FIRST$p: i32 = 3;
override EXTEND$p: i32 = 1;
//!end
override OPEN: i32 = FIRST - EXTEND;
//!for further
// The remaining penalty of the first residue of a gap of piece $p, and what each further residue adds to a stored value.
override OPEN$p: i32 = FIRST$p - EXTEND;
override RISE$p: i32 = EXTEND - EXTEND$p;
//!end

// Less than all values, and far from overflow.
const NEVER = -(1 << 30);

// E for the next lane and F for the previous lane, in even and odd steps, with one spare element at both ends.
var<workgroup> passed: array<vec2<i32>, 2u * (THREADS + 2u)>;
//!for further
var<workgroup> passed$p: array<vec2<i32>, 2u * (THREADS + 2u)>;
//!end

// Returns one word of query residues from `place` on, the first in the lowest bits.
fn query_letters(place: u32) -> u32 {
    let shift = place % LETTERS_PER_WORD * LETTER_BITS;
    return (queries[place / LETTERS_PER_WORD] >> shift) | ((queries[place / LETTERS_PER_WORD + 1u] << (32u - LETTER_BITS - shift)) << LETTER_BITS);
}

// Returns one word of the task's target residues from column `col` on, the first in the lowest bits.
fn band_letters(task: Task, col: i32) -> u32 {
    if (col <= -i32(LETTERS_PER_WORD) || col >= i32(task.cols)) {
        return NO_LETTERS;
    }
    let place = task.target_ + u32(max(col, 0));
    let shift = place % LETTERS_PER_WORD * LETTER_BITS;
    let letters = (targets[place / LETTERS_PER_WORD] >> shift) | ((targets[place / LETTERS_PER_WORD + 1u] << (32u - LETTER_BITS - shift)) << LETTER_BITS);
    // Less than a full word, so no shift is by the word size.
    let before = LETTER_BITS * u32(max(-col, 0));
    let first = (1u << before) - 1u;
    let behind = LETTER_BITS * u32(clamp(col + i32(LETTERS_PER_WORD) - i32(task.cols), 0, i32(LETTERS_PER_WORD) - 1));
    let last = ~(~0u >> behind);
    let kept = ~(first | last);
    return ((letters << before) & kept) | (NO_LETTERS & ~kept);
}

//!insert runs
//!if LOCAL
//!else

// Returns H above the first row, in a column of the target or before it.
fn above(col: i32) -> i32 {
//!if FROM_TARGET_START
    var border = -FIRST - col * EXTEND;
//!for further
    border = max(border, -FIRST$p - col * EXTEND$p);
//!end
    border = select(0, border, col >= 0);
//!else
    let border = 0;
//!end
//!if FROM_QUERY_START
    return select(border, NEVER, col < -1);
//!else
    return border;
//!end
}
//!end

// Walks through a window whose directions begin at `first`. Its rows are `row_stride` words apart, and the words of a
// row `word_stride`. Under several
// pieces, each lane has `lane_words` words of a row, and those of adjacent lanes are adjacent.
//!if SEVERAL_PIECES
fn walk(task: Task, first: u32, row_stride: u32, word_stride: u32, lane_words: u32, cells: i32) {
//!else
fn walk(task: Task, first: u32, row_stride: u32, word_stride: u32, cells: i32) {
//!end
    var row = i32(task.rows) - 1;
    var place = i32(task.last);
//!insert path_begin
//!if LOCAL
    while (row >= 0 && place >= 0 && place < cells) {
//!else
    while (row >= 0 && task.first_col + row + place >= 0 && place >= 0 && place < cells) {
//!end
//!if SEVERAL_PIECES
        let word = u32(place) / CELLS_PER_WORD;
        let at = first + u32(row) * row_stride + word % lane_words * word_stride + word / lane_words;
//!else
        let at = first + u32(row) * row_stride + u32(place) / CELLS_PER_WORD * word_stride;
//!end
        let bits = directions[at] >> (CELL_BITS * (u32(place) % CELLS_PER_WORD));
//!insert path_step
        row -= select(1, 0, layer == DELETION);
        place += select(0, 1, layer == INSERTION) - select(0, 1, layer == DELETION);
    }
    {
        let col = task.first_col + row + place;
//!insert path_rest
    }
//!insert path_end
}

//!for traces
// Traces the windows of a workgroup, from task `first_task` on, with $lanes lanes of $rows cells each.
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
    // Value that corresponds to zero in the lane's first cell of a row.
    var height = i32(lane * $rowsu) * EXTEND;
//!for rows
//!if LOCAL
    var h$k = height + ($k - 2) * EXTEND;
    var f$k = NEVER;
//!for further
    var f$p_$k = NEVER;
//!end
//!else
    var h$k = above(first_col + $k - 1) + height + ($k - 2) * EXTEND;
    var f$k = h$k - OPEN;
//!for further
    var f$p_$k = h$k - OPEN$p;
//!end
//!end
//!end
//!for words
    var letters$w = band_letters(task, first_col + i32(LETTERS_PER_WORD) * $w);
//!end
    var entering = 0u;
    var query = 0u;
    var word = task.directions + thread;
//!if APART
//!if LOCAL
    passed[thread + 1u] = vec2<i32>(NEVER, NEVER);
    passed[THREADS + 2u + thread + 1u] = vec2<i32>(NEVER, NEVER);
//!for further
    passed$p[thread + 1u] = vec2<i32>(NEVER, NEVER);
    passed$p[THREADS + 2u + thread + 1u] = vec2<i32>(NEVER, NEVER);
//!end
//!else
    passed[thread + 1u] = vec2<i32>(NEVER, f0);
    passed[THREADS + 2u + thread + 1u] = vec2<i32>(NEVER, f0);
//!for further
    passed$p[thread + 1u] = vec2<i32>(NEVER, f$p_0);
    passed$p[THREADS + 2u + thread + 1u] = vec2<i32>(NEVER, f$p_0);
//!end
//!end
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
//!for further
            var e$p = select(passed$p[slot_before].x, NEVER, lane == 0u);
            let f$p_$end = select(passed$p[slot_before + 2u].y, NEVER, lane == $lanesu - 1u);
//!end
//!insert row
            passed[slot + 1u] = vec2<i32>(e, f0);
//!for further
            passed$p[slot + 1u] = vec2<i32>(e$p, f$p_0);
//!end
        }
        workgroupBarrier();
    }
    storageBarrier();
    workgroupBarrier();
    if (lane == 0u && task.rows > 0u) {
//!if SEVERAL_PIECES
        walk(task, task.directions + thread, $directionsu * THREADS, THREADS, $directionsu, $lanes * $rows);
//!else
        walk(task, task.directions + thread, THREADS, 1u, $lanes * $rows);
//!end
    }
//!else
    let f$end = NEVER;
//!for further
    let f$p_$end = NEVER;
//!end
    for (var row = 0u; row < task.rows; row++) {
        var e = NEVER;
//!for further
        var e$p = NEVER;
//!end
//!insert row
    }
//!if SEVERAL_PIECES
    walk(task, task.directions + thread, $directionsu * THREADS, THREADS, $directionsu, $rows);
//!else
    walk(task, task.directions + thread, $directionsu * THREADS, THREADS, $rows);
//!end
//!end
}
//!end

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    // Index among the workgroups of a lane count, after those of the earlier lane counts are subtracted.
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
