// Diagonals near which an alignment of a query can reach its least score, found by intact pieces of the query
// (src/align/candidates/diagonal_bound.rs is the specification; docs/algorithm.md, section 15).
//
// A task is a k-mer of a piece with its positions in the index. A workgroup takes a unit of UNIT positions. Each
// thread compares the piece with the bases around its positions, and the workgroup collects the diagonals of equal
// ones. Then each thread bounds the scores of some of these diagonals: it compares the query with the bases on
// all diagonals of the band, WORDS words of 32 bases at once. The planes of the targets shift by a base from diagonal
// to diagonal. Last, each thread scores the bands of some diagonals that are left, cell by cell.

@group(0) @binding(0) var<storage, read> work: Bounding;
@group(0) @binding(1) var<storage, read> targets: array<u32>;
@group(0) @binding(2) var<storage, read> places: array<u32>;
// The tasks, and the first task of each unit.
@group(0) @binding(3) var<storage, read> tasks: array<u32>;
// The queries: header, low and high plane, and the bases as the targets have them.
@group(0) @binding(4) var<storage, read> queries: array<u32>;

struct Found {
    count: atomic<u32>,
    unused: u32,
    diagonals: array<u32>,
}
@group(0) @binding(5) var<storage, read_write> found: Found;

// Diagonals with an intact piece: the query's record, and the diagonal.
var<workgroup> held: atomic<u32>;
var<workgroup> intact: array<vec2<u32>, UNIT>;
// Those whose bound reaches the least score, by their numbers.
var<workgroup> left: atomic<u32>;
var<workgroup> possible: array<u32, UNIT>;

// The bases of the targets on a band, one bit of each in every plane.
//!for t
var<private> low$t: u32;
var<private> high$t: u32;
//!end

const NONE = -(1 << 28u);

// Eight bases of the targets from position `at` on.
fn target_word(at: u32) -> u32 {
    let shift = at % 8u * 4u;
    // Shifting by the word size is undefined, hence two steps.
    return (targets[at / 8u] >> shift) | ((targets[at / 8u + 1u] << 4u) << (28u - shift));
}

fn query_word(bases: u32, at: u32) -> u32 {
    let shift = at % 8u * 4u;
    return (queries[bases + at / 8u] >> shift) | ((queries[bases + at / 8u + 1u] << 4u) << (28u - shift));
}

fn is_equal(query: u32, start: u32, len: u32, place: u32) -> bool {
    let bases = query + HEADER + 2u * WORDS;
    for (var k = 0u; k < len; k += 8u) {
        let differ = query_word(bases, start + k) ^ target_word(place + k);
        let rest = min(len - k, 8u);
        if ((differ & (0xffffffffu >> (4u * (8u - rest)))) != 0u) {
            return false;
        }
    }
    return true;
}

// The lowest bit of each of eight bases, as the lowest bits of a word.
fn gathered(word: u32) -> u32 {
    let each = word & 0x11111111u;
    let pairs = (each | (each >> 3u)) & 0x03030303u;
    let fours = (pairs | (pairs >> 6u)) & 0x000f000fu;
    return (fours | (fours >> 12u)) & 0xffu;
}

fn append(query: u32, diagonal: u32, most: i32) {
    let at = atomicAdd(&found.count, 1u);
    if (at < work.capacity) {
        found.diagonals[3u * at] = queries[query];
        found.diagonals[3u * at + 1u] = diagonal;
        found.diagonals[3u * at + 2u] = u32(most);
    }
}

// Reads the bases from position `before` on into the planes. Returns whether all are bases.
fn load(before: u32) -> bool {
    var ambiguous = 0u;
//!for t
    low$t = 0u;
    high$t = 0u;
//!for quarter
    {
        let word = target_word(before + $offsetu);
        ambiguous |= word & 0x44444444u;
        low$t |= gathered(word) << $upu;
        high$t |= gathered(word >> 1u) << $upu;
    }
//!end
//!end
    return ambiguous == 0u;
}

// Moves the planes to the next diagonal.
fn shift() {
//!for shifted
    low$t = (low$t >> 1u) | (low$next << 31u);
    high$t = (high$t >> 1u) | (high$next << 31u);
//!end
    low$last = low$last >> 1u;
    high$last = high$last >> 1u;
}

// Whether an alignment that crosses the diagonal may reach the least score. Appends the diagonal if no band of bases
// surrounds it.
fn is_possible(query: u32, diagonal: u32) -> bool {
    let len = queries[query + 1u];
    let gaps = queries[query + 2u];
    let least = i32(queries[query + 3u]);
    let perfect = i32(len) * work.match_score + 2 * work.end_bonus;
    // The planes reach from `before` to the end of their last word. Near the ends of the targets, any score is
    // possible. A residue that is not a base may equal any base.
    let before = diagonal - PAD - gaps;
    if (diagonal < PAD + gaps || before + 32u * TARGET_WORDS + 8u > work.letters || !load(before)) {
        append(query, diagonal, perfect);
        return false;
    }
//!for w
    let query_low$w = queries[query + HEADER + $wu];
    let query_high$w = queries[query + HEADER + WORDS + $wu];
    let inside$w = select(select(0u, (1u << (len - min(len, $firstu))) - 1u, len > $firstu), 0xffffffffu, len >= $firstu + 32u);
    var begun$w = 0u;
//!end
    // Where runs of equal bases begin on any diagonal of the band.
    for (var offset = 0u; offset <= 2u * gaps; offset++) {
        var equal_next = 0u;
        var two_next = 0u;
//!for down
        {
            let equal = ~((query_low$w ^ low$w) | (query_high$w ^ high$w)) & inside$w;
            let two = equal & ((equal >> 1u) | (equal_next << 31u));
            let four = two & ((two >> 2u) | (two_next << 30u));
            begun$w |= four & ((two >> 4u) | (two_next << 28u));
            equal_next = equal;
            two_next = two;
        }
//!end
        shift();
    }
    // An uncovered base stands for an edit if it is RUN or more bases after the previous one that does.
    var best = 0;
    var start = 0;
    var lost = 0;
    var next = 0u;
    var begun_before = 0u;
//!for w
    {
        let two = begun$w | (begun$w << 1u);
        let covered = two | (two << 2u) | (two << 4u);
        let carried = (begun_before >> 31u) | (begun_before >> 30u) | (begun_before >> 29u) | (begun_before >> 28u)
            | (begun_before >> 27u);
        let skipped = min(max(next, $firstu) - $firstu, 32u);
        var rest = ~(covered | carried) & inside$w & select(0xffffffffu << skipped, 0u, skipped == 32u);
        while (rest != 0u) {
            let at = $firstu + firstTrailingBit(rest);
            if (at + RUN > len) {
                break;
            }
            best = max(best, (i32(at + RUN) - 1 - start) * work.match_score - lost);
            lost += work.edit;
            if ((i32(at) + 1 - start) * work.match_score <= lost) {
                start = i32(at) + 1;
                lost = 0;
            }
            next = at + RUN;
            let behind = next - $firstu;
            rest &= select(0xffffffffu << behind, 0u, behind >= 32u);
        }
        begun_before = begun$w;
    }
//!end
    return max(best, (i32(len) - start) * work.match_score - lost) + 2 * work.end_bonus >= least;
}

// Appends the diagonal if the best alignment within the band around it reaches the least score. The band is a multiple of
// CHUNK diagonals wide.
fn score(query: u32, diagonal: u32) {
    let len = queries[query + 1u];
    let gaps = queries[query + 2u];
    let least = i32(queries[query + 3u]);
    load(diagonal - PAD - gaps);
    // For each diagonal, the best score of an alignment that ends in the row above, and of one that ends there with an
    // insertion.
//!for cell
    var h$cell = select(NONE, 0, $cellu / CHUNK <= 2u * gaps / CHUNK);
    var e$cell = NONE;
//!end
    var best = 0;
    for (var row = 0u; row < len; row++) {
        let bit = row % 32u;
        let query_low = 0u - ((queries[query + HEADER + row / 32u] >> bit) & 1u);
        let query_high = 0u - ((queries[query + HEADER + WORDS + row / 32u] >> bit) & 1u);
        let bonus = select(0, work.end_bonus, row == 0u || row + 1u == len);
        let equal_score = work.match_score + bonus;
        let unequal_score = work.mismatch_score + bonus;
        var top = 0;
        var left_cell = NONE;
        var f = NONE;
//!for chunk
        if ($firstu <= 2u * gaps) {
            let equal = ~((low$word ^ query_low) | (high$word ^ query_high));
//!for of_chunk
            e$cell = max($e_next - work.extend, $h_next - work.open);
            f = max(f - work.extend, left_cell - work.open);
            left_cell = max(max(h$cell + select(unequal_score, equal_score, (equal & $masku) != 0u), e$cell), max(f, 0));
            h$cell = left_cell;
            top = max(top, left_cell);
//!end
        }
//!end
        best = max(best, top);
        // Maximum score of the rows below.
        let rest = i32(len - 1u - row) * work.match_score + work.end_bonus;
        if (best < least && top + rest < least) {
            return;
        }
        shift();
    }
    if (best >= least) {
        append(query, diagonal, best);
    }
}

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let unit = work.first_unit + group.y * groups.x + group.x;
    if (thread == 0u) {
        atomicStore(&held, 0u);
        atomicStore(&left, 0u);
    }
    workgroupBarrier();
    if (unit < work.end_unit) {
        let begin = unit * UNIT;
        let first = tasks[work.units_at + unit];
        let last = tasks[work.units_at + unit + 1u];
        for (var number = begin + thread; number < min(begin + UNIT, work.positions); number += THREADS) {
            // The last task that begins at this position or before.
            var low = first;
            var high = last;
            while (low < high) {
                let middle = (low + high + 1u) / 2u;
                if (tasks[middle * TASK] <= number) {
                    low = middle;
                } else {
                    high = middle - 1u;
                }
            }
            let task = low * TASK;
            let place = places[tasks[task + 1u] + number - tasks[task]];
            let query = tasks[task + 2u];
            let start = tasks[task + 3u] & 0xffffu;
            let len = tasks[task + 3u] >> 16u;
            let ahead = tasks[task + 4u];
            // Positions in a damaged file may be any numbers.
            if (place >= ahead && place < work.letters && place - ahead + len <= work.letters) {
                if (is_equal(query, start, len, place - ahead)) {
                    let at = atomicAdd(&held, 1u);
                    intact[at] = vec2<u32>(query, place - ahead + PAD - start);
                }
            }
        }
    }
    workgroupBarrier();
    let count = atomicLoad(&held);
    for (var k = thread; k < count; k += THREADS) {
        if (is_possible(intact[k].x, intact[k].y)) {
            possible[atomicAdd(&left, 1u)] = k;
        }
    }
    workgroupBarrier();
    let scored = atomicLoad(&left);
    for (var k = thread; k < scored; k += THREADS) {
        let own = intact[possible[k]];
        score(own.x, own.y);
    }
}
