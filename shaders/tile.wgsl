// The tile: the recurrence over LANES * ROWS query rows and any number of target columns.
//
// Lane l of a task owns the tile rows l*ROWS .. l*ROWS+ROWS-1: their letters (or profile words), H of
// the last column (h) and E of the next one (e), all in registers. At step s it is at column s - l,
// so that the cells of one step lie along an anti-diagonal. From lane l-1 it takes what that lane
// published one step ago: H and F of the row above. Those two diagonals lie in workgroup memory, or go
// from lane to lane inside a subgroup where its size is fixed; then the target's letters travel along.
//
// Values are multiples of SCALE: where that is more than 1, a row fits below a score.
//
// Rows outside the query match nothing. Where scores are asked for they stand above it, so that H
// stays 0 in them; behind it stand rows only where no score is asked for. Columns outside the target
// match nothing either: before it H stays 0, behind it nothing exceeds what came before.
//
// The kernels fill the slots: score.wgsl keeps the best cell, fill.wgsl the directions; a step of the
// wavefront is in step.wgsl.

@group(0) @binding(0) var<storage, read> tasks: array<Task>;
@group(0) @binding(1) var<storage, read> queries: array<u32>;
@group(0) @binding(2) var<storage, read> targets: array<u32>;
//!if EDGES
// H and F, or H and E, where tiles meet: a tile reads what enters and leaves what goes out, most often
// in the same place.
@group(0) @binding(3) var<storage, read_write> edges: array<vec2<i32>>;
//!end
//!if CHAINED
// How many tasks are taken, how often somebody asks in vain before he gives up, how many slots there are, and columns
// of each; columns from one vertical line to the next, where there are lines, and edge values likewise; then the
// slots, H and F of a strip's last row in each column. Strips take the slots in turns, so a mark
// below each value says whose it is: strips that run side by side have no mark in one slot in common.
@group(0) @binding(7) var<storage, read_write> chain: array<atomic<u32>>;
//!end
//!if PROFILE
// Substitution scores, a byte each: [query code][target code].
@group(0) @binding(4) var<storage, read> scores: array<u32>;
//!end
//!insert bindings

override MATCH: i32 = 1;
override MISMATCH: i32 = -1;
// What the first residue of a gap costs, and each further one; multiples of SCALE.
override FIRST: i32 = 2;
override EXTEND: i32 = 1;

//!if CHAINED
var<workgroup> taken: u32;
//!end
//!if SHUFFLE
//!else
// What each thread published in even and odd steps, one place behind its own.
var<workgroup> exchange: array<vec2<i32>, 2u * (THREADS + 1u)>;
//!end
//!if SHARED
// The scores of the rows of the one query of this workgroup, 16 to an element: [row / 16][target
// code][lane].
var<workgroup> profile: array<vec4<u32>, PROFILE_WORDS / 4u>;
//!else
//!if PROFILE
// The scores of each thread's rows, four to a word: [row / 4][target code][thread].
var<workgroup> profile: array<u32, PROFILE_WORDS>;
//!end
//!end

//!if PROFILE
fn query_letter(task: Task, row: u32) -> u32 {
    let residue = row - task.pad;
    let inside = residue < task.rows;
    let place = task.query + select(0u, residue, inside);
    let letter = (queries[place / LETTERS_PER_WORD] >> (place % LETTERS_PER_WORD * LETTER_BITS)) & LETTER_MASK;
    return select(NO_QUERY, letter, inside);
}
//!else
// The letters of a word's worth of rows from `row` on, the first lowest; anything for rows outside the query. Each
// word is loaded once: letter by letter is a thousandth of the time of 512 x 512.
fn query_letters(task: Task, row: u32) -> u32 {
    // Negative in front of all queries.
    let place = i32(task.query + row) - i32(task.pad);
    let inside = min(u32(max(place, 0)), task.query + max(task.rows, 1u) - 1u);
    let shift = inside % LETTERS_PER_WORD * LETTER_BITS;
    let first = queries[inside / LETTERS_PER_WORD] >> shift;
    // Shifting by a whole word is undefined, so in two steps.
    let second = (queries[inside / LETTERS_PER_WORD + 1u] << (LETTER_BITS * (LETTERS_PER_WORD - 1u) - shift)) << LETTER_BITS;
    let before = min(u32(max(-place, 0)), LETTERS_PER_WORD - 1u);
    return (first | second) << (before * LETTER_BITS);
}
//!end

//!if PACKED
// The scores of a query letter against A, C, G and T, a byte each; mismatches alone where there is no letter.
fn packed_scores(letter: u32, there: bool) -> u32 {
    let mismatches = (u32(MISMATCH) & 0xffu) * 0x01010101u;
    let matched = ((u32(MISMATCH) ^ u32(MATCH)) & 0xffu) << (8u * (letter & 3u));
    return mismatches ^ select(0u, matched, there && letter < 4u);
}
//!end

//!if PROFILE
// The scores of four rows against a target code.
fn profile_word(task: Task, first_row: u32, code: u32) -> u32 {
    var word = 0u;
    for (var k = 0u; k < 4u; k++) {
        let letter = query_letter(task, first_row + k);
        let place = min(letter, CODES - 1u) * CODES + code;
        let score = (scores[place / 4u] >> (place % 4u * 8u)) & 0xffu;
        // Outside the query: the least score there is, -128.
        word |= select(score, 0x80u, letter == NO_QUERY) << (8u * k);
    }
    return word;
}
//!end

//!if SHUFFLE
// The letters of a word's worth of columns from `col` on, the first lowest. Behind the target lies
// whatever comes there; one word more than the targets take is always there.
fn target_letters(task: Task, col: u32) -> u32 {
    let place = task.target_ + col;
    let shift = place % LETTERS_PER_WORD * LETTER_BITS;
    let first = targets[place / LETTERS_PER_WORD] >> shift;
    // Shifting by a whole word is undefined, so in two steps.
    let second = (targets[place / LETTERS_PER_WORD + 1u] << (LETTER_BITS * (LETTERS_PER_WORD - 1u) - shift)) << LETTER_BITS;
    return first | second;
}
//!end

//!if CHAINED
//!insert handing
//!if SHUFFLE
//!insert letters
//!end
//!end

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
//!if SHUFFLE
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_size) subgroup_size: u32,
    @builtin(subgroup_invocation_id) invocation: u32,
//!else
    @builtin(local_invocation_index) thread: u32,
//!end
) {
//!if SHUFFLE
    let thread = subgroup * subgroup_size + invocation;
//!end
//!if CHAINED
    // Tasks are taken in their order, so whoever a strip waits for has begun before it.
    if (thread == 0u) {
        taken = atomicAdd(&chain[0], 1u);
    }
    let first_task = workgroupUniformLoad(&taken);
    if (first_task >= arrayLength(&tasks) || tasks[first_task].cols == 0u) {
        return;
    }
//!else
    let first_task = (group.y * grid.x + group.x) * PAIRS;
    if (first_task >= arrayLength(&tasks)) {
        return;
    }
//!end
    let lane = thread % LANES;
    let task = tasks[first_task + thread / LANES];
//!if SHUFFLE
    let steps = subgroupMax(task.cols) + LANES - 1u;
//!else
    var steps = 0u;
    for (var pair = 0u; pair < PAIRS; pair++) {
        steps = max(steps, tasks[first_task + pair].cols);
    }
    steps += LANES - 1u;
//!end
//!if SHARED
    let owner = tasks[first_task];
    for (var place = thread; place < PROFILE_WORDS; place += THREADS) {
        let row = place / (LANES * CODES) * 4u;
        let code = place / LANES % CODES;
        let first_row = place % LANES * ROWS + row;
        profile[(row / 16u * CODES + code) * LANES + place % LANES][row / 4u % 4u] = profile_word(owner, first_row, code);
    }
    workgroupBarrier();
//!else
//!if PROFILE
    for (var place = 0u; place < ROWS / 4u * CODES; place++) {
        let first_row = lane * ROWS + place / CODES * 4u;
        profile[place * THREADS + thread] = profile_word(task, first_row, place % CODES);
    }
//!else
//!for rows
//!if FIRST_OF_8
    let letters$w = query_letters(task, lane * ROWS + $ku);
//!end
    let there$k = lane * ROWS + $ku - task.pad < task.rows;
    let letter$k = (letters$w >> (LETTER_BITS * ($ku % 8u))) & LETTER_MASK;
//!if PACKED
    let q$k = packed_scores(letter$k, there$k);
//!else
    let q$k = select(NO_QUERY, letter$k, there$k);
//!end
//!end
//!end
//!end
//!if EDGES
//!insert leaving
//!if CHAINED
    var corner = 0;
//!for rows
    var h$k = 0;
    var e$k = 0;
//!end
//!if LINED
//!else
    if (task.left != NOWHERE) {
        corner = edges[task.left + lane * ROWS].x * SCALE;
//!for rows
        let left$k = edges[task.left + lane * ROWS + $ku + 1u] * SCALE;
        h$k = left$k.x;
        e$k = left$k.y;
//!end
    }
//!end
//!else
    var corner = edges[task.left + lane * ROWS].x * SCALE;
//!for rows
    let left$k = edges[task.left + lane * ROWS + $ku + 1u] * SCALE;
    var h$k = left$k.x;
    var e$k = left$k.y;
//!end
//!end
//!else
    var corner = 0;
//!for rows
    var h$k = 0;
    var e$k = 0;
//!end
//!end
//!if EDGES
    // What enters from above is read before the first lane comes there; the last lane comes to write there
    // later.
    let last_col = max(task.cols, 1u) - 1u;
//!if CHAINED
    // What a strip above leaves is waited for; columns that none leaves hold zeros.
    let entering_columns = task.entering;
    let entering_from = handed(task.result - 1u, task.chain);
    let leaving_to = handed(task.result, task.chain);
    let patience = atomicLoad(&chain[1]);
//!if LINED
    let side = atomicLoad(&chain[4]);
    let lines_apart = atomicLoad(&chain[5]);
    var line_col = task.line_col;
    var line_place = task.line_place;
//!end
    var gave_up = false;
//!if SHUFFLE
    // That of a run of columns, one a lane, and of the run behind it.
    var next_run = passed_down(entering_from.place + min(lane % COLUMNS, last_col) * 2u);
    var run = vec2<i32>(0, 0);
//!end
//!else
//!if SHUFFLE
    // That of a run of columns, one a lane, and of the run behind it: a lane that read its own column would wait
    // for memory in every step.
    var next_run = edges[task.above + min(lane, last_col)] * SCALE;
    var run = next_run;
//!else
    // That of the next column.
    var above = edges[task.above] * SCALE;
//!end
//!end
//!end
//!insert state
//!if SHUFFLE
    // F that leaves the tile's rows of this lane, the letter of its column, and letters to come.
    var f = 0;
    var letter = NO_TARGET;
    var letters = 0u;
//!else
    exchange[THREADS + 1u + thread + 1u] = vec2<i32>(0, 0);
    workgroupBarrier();
//!end

    var step = 0u;
//!if BLOCKS
//!insert blocks
//!else
//!if EDGES
    // What lies outside the target must stay as it was found, so work is masked while some lane has no
    // column; in between it is not, which is faster.
//!if SHUFFLE
    let inner = subgroupMin(task.cols);
//!else
    var inner = steps;
    for (var pair = 0u; pair < PAIRS; pair++) {
        inner = min(inner, tasks[first_task + pair].cols);
    }
//!end
    for (; step < min(LANES - 1u, steps); ) {
//!with GUARDED
//!insert step
//!end
    }
    for (; step + COLUMNS <= inner; ) {
//!for columns
//!insert step
//!end
    }
    for (; step < steps; ) {
//!with GUARDED
//!insert step
//!end
    }
//!else
    for (; step < steps; ) {
//!for columns
//!insert step
//!end
//!insert turn_end
    }
//!end
//!end
//!if LINED
//!else
//!if EDGES
//!if CHAINED
    if (right != NOWHERE) {
//!else
    if (task.cols > 0u) {
//!end
//!for rows
        edges[right + lane * ROWS + $ku + 1u] = vec2<i32>(h$k, e$k) / SCALE;
//!end
        if (lane == 0u) {
            edges[right].x = corner / SCALE;
        }
    }
//!end
//!end
//!insert finish
}
