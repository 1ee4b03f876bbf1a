// Rows: the best cell of a profile or of a strand of DNA against a protein (the recurrence is in src/engine/rows.rs).
//
// A row is a position of the profile, or a base of the strand, whose letter is the residue of the codon that ends there. Lane l of a task owns
// rows l*ROWS .. l*ROWS+ROWS-1, and at step s it computes column s - l, as in tile.wgsl. A codon depends on the rows up to
// four above, and a gap on the row three above, so a lane passes H of its last four rows and F of the next three rows on. A
// longer query is processed strip by strip, and these values of the last lane stay in memory between strips.

@group(0) @binding($tasks) var<storage, read> tasks: array<Task>;
@group(0) @binding($queries) var<storage, read> queries: array<u32>;
@group(0) @binding($targets) var<storage, read> targets: array<u32>;
//!if PROFILE
// Scores of the positions of all queries, one byte each, in rows of POSITION_WORDS words: [position][target code].
//!if GAPS
// The last word of a row has the costs of the gaps that leave the position, one byte each: the first and each further residue of a
// deletion, and of an insertion.
//!end
//!else
// Substitution scores, one byte each: [query code][target code].
//!end
@group(0) @binding($scores) var<storage, read> scores: array<u32>;
// For each task: score, query row, and column of its best cell, counted from the first row and column. The score is 0 if there is no such cell.
@group(0) @binding($output) var<storage, read_write> results: array<vec4<i32>>;
// What enters the next strip, for each column of a task.
@group(0) @binding($scratch) var<storage, read_write> below: array<array<i32, 7>>;

//!if GAPS
// The highest penalty of a residue of a gap.
const FIRST: i32 = 127;
//!else
// Penalties of the first residue of a gap and of each further residue; if paths may change the frame, also of a change.
override FIRST: i32 = 2;
override EXTEND: i32 = 1;
//!end
//!if FRAMED
override SHIFT: i32 = 1;
//!end

// Values that each thread passed on in even and odd steps, each one index after its thread.
var<workgroup> passed_h: array<vec4<i32>, 2u * (THREADS + 1u)>;
var<workgroup> passed_f: array<vec3<i32>, 2u * (THREADS + 1u)>;
//!if FRAMED
var<workgroup> table: array<u32, TABLE_WORDS>;
//!end
var<workgroup> finals: array<vec3<i32>, THREADS>;

//!if PROFILE
// Returns the first word of a query row's scores. Rows outside the query have none.
fn scores_of(task: Task, row: u32) -> u32 {
    return select(NO_ROW, (task.query + row) * POSITION_WORDS, row < task.rows);
}

fn score(first: u32, letter: u32) -> i32 {
    if (first == NO_ROW) {
        return -128;
    }
    return extractBits(i32(scores[first + letter / 4u]), letter % 4u * 8u, 8u);
}
//!if GAPS

// Returns the gap costs of a query row.
fn costs_of(first: u32) -> u32 {
    if (first == NO_ROW) {
        return 0x7f7f7f7fu;
    }
    return scores[first + POSITION_WORDS - 1u];
}

fn cost(costs: u32, byte: u32) -> i32 {
    return i32(extractBits(costs, byte * 8u, 8u));
}
//!end
//!else
// Returns the first index of a query row's scores. Bases that end no codon, and rows outside the query, have none.
fn scores_of(task: Task, row: u32) -> u32 {
    let place = task.query + min(row, max(task.rows, 1u) - 1u);
    let letter = (queries[place / LETTERS_PER_WORD] >> (place % LETTERS_PER_WORD * LETTER_BITS)) & LETTER_MASK;
    return select(NO_ROW, letter * CODES, row < task.rows && letter < NO_TARGET);
}

fn score(first: u32, letter: u32) -> i32 {
    let place = min(first, NO_ROW) + letter;
    let known = extractBits(i32(table[place / 4u]), place % 4u * 8u, 8u);
    return select(known, -128, first == NO_ROW);
}
//!end

// Compares (score, row, column) and returns whether `a` is better than `b`.
fn better(a: vec3<i32>, b: vec3<i32>) -> bool {
    let earlier = a.z < b.z || (a.z == b.z && a.y < b.y);
    return a.x > b.x || (a.x == b.x && earlier);
}

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let first_task = (group.y * grid.x + group.x) * PAIRS;
    if (first_task >= arrayLength(&tasks)) {
        return;
    }
//!if FRAMED
    for (var word = thread; word < TABLE_WORDS; word += THREADS) {
        table[word] = scores[word];
    }
//!end
    let lane = thread % LANES;
    let task = tasks[first_task + thread / LANES];
    var steps = 0u;
    var strips = 0u;
    for (var pair = 0u; pair < PAIRS; pair++) {
        steps = max(steps, tasks[first_task + pair].cols);
        strips = max(strips, tasks[first_task + pair].strips);
    }
    steps += LANES - 1u;
    var best = vec3<i32>(0, 0, 0);
    for (var strip = 0u; strip < strips; strip++) {
        let first_row = (strip * LANES + lane) * ROWS;
//!for rows
        let scores$k = scores_of(task, first_row + $ku);
//!if GAPS
        let costs$k = costs_of(scores$k);
//!end
        var h$k = 0;
        var e$k = -FIRST;
//!end
        // H of the last column in the four rows above.
        var corner = vec4<i32>(0, 0, 0, 0);
        for (var slot = thread + 1u; slot < 2u * (THREADS + 1u); slot += THREADS + 1u) {
            passed_h[slot] = vec4<i32>(0, 0, 0, 0);
            passed_f[slot] = vec3<i32>(-FIRST, -FIRST, -FIRST);
        }
        var top = 0;
        var top_row = 0u;
        var top_col = 0u;
        workgroupBarrier();
        for (var step = 0u; step < steps; step++) {
            // Wraps to a large number before the target.
            let col = step - lane;
            let odd = (step & 1u) * (THREADS + 1u);
            var above = passed_h[THREADS + 1u - odd + thread];
            var gaps = passed_f[THREADS + 1u - odd + thread];
            if (col < task.cols) {
                if (lane == 0u) {
                    above = vec4<i32>(0, 0, 0, 0);
                    gaps = vec3<i32>(-FIRST, -FIRST, -FIRST);
                    if (strip > 0u) {
                        let entering = below[task.below + col];
                        above = vec4<i32>(entering[0], entering[1], entering[2], entering[3]);
                        gaps = vec3<i32>(entering[4], entering[5], entering[6]);
                    }
                }
                let place = task.target_ + col;
                let letter = (targets[place / LETTERS_PER_WORD] >> (place % LETTERS_PER_WORD * LETTER_BITS)) & LETTER_MASK;
                var before = corner;
                corner = above;
                let highest = top;
//!for rows
//!if FRAMED
                let shifted$k = max(before.x, before.z) - SHIFT;
                let matched$k = max(before.y, shifted$k) + score(scores$k, letter);
//!else
                let matched$k = before.w + score(scores$k, letter);
//!end
                let t$k = max(max(matched$k, 0), max(e$k, gaps.x));
//!if GAPS
                e$k = max(e$k - cost(costs$k, 1u), t$k - cost(costs$k, 0u));
                gaps.x = max(gaps.x - cost(costs$k, 3u), t$k - cost(costs$k, 2u));
//!else
                let opened$k = t$k - FIRST;
                e$k = max(e$k - EXTEND, opened$k);
//!if FRAMED
                gaps = vec3<i32>(gaps.y, gaps.z, max(gaps.x - EXTEND, opened$k));
//!else
                gaps.x = max(gaps.x - EXTEND, opened$k);
//!end
//!end
                before = vec4<i32>(before.y, before.z, before.w, h$k);
                h$k = t$k;
                top_row = select(top_row, first_row + $ku, t$k > top);
                top = max(top, t$k);
//!end
                top_col = select(top_col, col, top > highest);
                let leaving = vec4<i32>(h$fourth, h$third, h$second, h$last);
                passed_h[odd + thread + 1u] = leaving;
                passed_f[odd + thread + 1u] = gaps;
                if (lane == LANES - 1u && strip + 1u < strips) {
                    below[task.below + col] =
                        array<i32, 7>(leaving.x, leaving.y, leaving.z, leaving.w, gaps.x, gaps.y, gaps.z);
                }
            }
            workgroupBarrier();
        }
        let found = vec3<i32>(top, i32(top_row), i32(top_col));
        if (top > 0 && better(found, best)) {
            best = found;
        }
        storageBarrier();
        workgroupBarrier();
    }
    finals[thread] = best;
    workgroupBarrier();
    if (lane == 0u && task.cols > 0u) {
        for (var other = 1u; other < LANES; other++) {
            if (finals[thread + other].x > 0 && better(finals[thread + other], best)) {
                best = finals[thread + other];
            }
        }
        results[task.result] = vec4<i32>(best, 0);
    }
}
