// Trace: the path of each task's window, one thread a window, for narrow bands.
//
// A thread goes down the rows of the band with H and F of the row above in registers, cell k of a row
// at column band_first + row + k, so that the diagonal neighbour has the same place k, the upper one
// k + 1. It leaves the directions of the row (src/engine/directions.rs says what the bits mean) beside
// those of its neighbours, and at last walks back over its own, as src/backtrace/walk.rs does.
// Cells outside the band are worth less than any path inside; columns outside the target match
// nothing, so that H is 0 before it.
//
// One thread has a card's integer unit to itself only where windows are few, so operations count. Values of cell k of
// a row stand higher by EXTEND for each row and each column before it: then a gap's further residues cost
// nothing, and what is left of its first, OPEN, is the same for both kinds.
//
// Bands are narrow or less so: the functions of all widths stand in one kernel, since the windows of a dispatch wait for
// those of the one before.

@group(0) @binding(0) var<storage, read> tasks: array<Task>;
@group(0) @binding(1) var<storage, read> queries: array<u32>;
@group(0) @binding(2) var<storage, read> targets: array<u32>;
// Steps of the paths from their ends, two bits each, a zero behind the last.
@group(0) @binding(5) var<storage, read_write> paths: array<u32>;
// Of each workgroup: [row][word of the row][thread].
@group(0) @binding(6) var<storage, read_write> directions: array<u32>;

override MATCH: i32 = 1;
override MISMATCH: i32 = -1;
// What the first residue of a gap costs, and each further one.
override FIRST: i32 = 2;
override EXTEND: i32 = 1;

override OPEN: i32 = FIRST - EXTEND;
// Below all values, far from overflow.
const NEVER = -(1 << 30);
const DIAGONAL = 1u;
const DELETION = 2u;
const INSERTION = 3u;
const STEPS_PER_WORD = 16u;

// Eight letters of the queries from `place` on, the first lowest.
fn query_letters(place: u32) -> u32 {
    let shift = place % 8u * 4u;
    return (queries[place / 8u] >> shift) | ((queries[place / 8u + 1u] << (28u - shift)) << 4u);
}

// Eight letters of the task's target from column `col` on, the first lowest.
fn band_letters(task: Task, col: i32) -> u32 {
    let outside = NO_TARGET * 0x11111111u;
    if (col <= -8 || col >= i32(task.cols)) {
        return outside;
    }
    let place = task.target_ + u32(max(col, 0));
    let shift = place % 8u * 4u;
    let letters = (targets[place / 8u] >> shift) | ((targets[place / 8u + 1u] << (28u - shift)) << 4u);
    // Seven at most, so that no shift takes the whole word.
    let before = 4u * u32(max(-col, 0));
    let first = (1u << before) - 1u;
    let behind = 4u * u32(clamp(col + 8 - i32(task.cols), 0, 7));
    let last = ~(0xffffffffu >> behind);
    let kept = ~(first | last);
    return ((letters << before) & kept) | (outside & ~kept);
}

//!for each width
// The path of a task whose band is $rows cells wide.
fn trace_$rows(task: Task) {
    // The height of a row's first cell.
    var height = 0;
//!for k
    var h$k = ($k - 2) * EXTEND;
    var f$k = NEVER;
//!end
    let f$end = NEVER;
//!for w words
    var letters$w = band_letters(task, task.band_first + 8 * $w);
//!end
    var entering = 0u;
    var query = 0u;
    var word = task.directions;
    for (var row = 0u; row < task.rows; row++) {
        if (row % 8u == 0u) {
            query = query_letters(task.query + row);
            entering = band_letters(task, task.band_first + i32($rowsu + row));
        }
        // A bit for each letter that differs.
        let same = (query & 15u) * 0x11111111u;
//!for w words
        let apart$w = letters$w ^ same;
        let differs$w = apart$w | (apart$w >> 1u) | (apart$w >> 2u);
        var bits$w = 0u;
//!end
        var e = NEVER;
//!for k
        let differs_here$k = (differs$8 & (1u << (4u * ($ku % 8u)))) != 0u;
        let d$k = h$k + select(MATCH + 2 * EXTEND, MISMATCH + 2 * EXTEND, differs_here$k);
        let zero$k = height + $k * EXTEND;
        let t$k = max(max(d$k, zero$k), max(e, f$next));
        let opened$k = t$k - OPEN;
        let gap$k = select(INSERTION << (4u * ($ku % 8u)), DELETION << (4u * ($ku % 8u)), t$k == e);
        let source$k = select(select(gap$k, DIAGONAL << (4u * ($ku % 8u)), t$k == d$k), 0u, t$k == zero$k);
        bits$8 |= source$k;
        bits$8 |= select(0u, 4u << (4u * ($ku % 8u)), e > opened$k);
        bits$8 |= select(0u, 8u << (4u * ($ku % 8u)), f$next > opened$k);
        h$k = t$k;
        e = max(e, opened$k);
        f$k = max(f$next, opened$k);
//!end
//!for w words
        directions[word + $wu * THREADS] = bits$w;
//!end
        word += $wordsu * THREADS;
        height += 2 * EXTEND;
        // The next row's band begins a column later.
        let letters$words = entering;
//!for w words
        letters$w = (letters$w >> 4u) | (letters$after << 28u);
//!end
        query >>= 4u;
        entering >>= 4u;
    }

    var row = i32(task.rows) - 1;
    var place = i32(task.stored);
    var layer = DIAGONAL;
    var steps = 0u;
    var count = 0u;
    while (row >= 0 && place >= 0 && place < $rows && count / STEPS_PER_WORD < task.own) {
        let at = task.directions + (u32(row) * $wordsu + u32(place) / 8u) * THREADS;
        let bits = directions[at] >> (4u * (u32(place) % 8u));
        let goes_on = (layer == DELETION && (bits & 4u) != 0u) || (layer == INSERTION && (bits & 8u) != 0u);
        if (!goes_on) {
            layer = bits & 3u;
            if (layer == 0u) {
                break;
            }
        }
        steps |= layer << (2u * (count % STEPS_PER_WORD));
        if (count % STEPS_PER_WORD == STEPS_PER_WORD - 1u) {
            paths[task.result + count / STEPS_PER_WORD] = steps;
            steps = 0u;
        }
        count++;
        row -= select(1, 0, layer == DELETION);
        place += select(0, 1, layer == INSERTION) - select(0, 1, layer == DELETION);
    }
    if (count / STEPS_PER_WORD < task.own) {
        paths[task.result + count / STEPS_PER_WORD] = steps;
    }
}
//!end

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let place = (group.y * grid.x + group.x) * THREADS + thread;
    if (place >= arrayLength(&tasks)) {
        return;
    }
    let task = tasks[place];
    if (task.rows == 0u) {
        return;
    }
//!for each width
    if (task.pad == $rowsu) {
        trace_$rows(task);
    }
//!end
}
