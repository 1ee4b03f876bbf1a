// Database: the best scores of queries against each of many targets, without the cells in which the hits end.
//
// The recurrence is that of a tile (tile.wgsl). The table of targets is sorted from the longest to the shortest. A task
// is a query and a range of that table, and it has a layer of workgroups: x is the layer. Each workgroup scores the PAIRS
// targets of the range that its index in the layer selects, each on LANES lanes.
//
// A query of several tiles is processed strip by strip (strips.wgsl). All targets of a workgroup start the next strip
// together.

@group(0) @binding($tasks) var<storage, read> tasks: array<Task>;
@group(0) @binding($queries) var<storage, read> queries: array<u32>;
@group(0) @binding($targets) var<storage, read> targets: array<u32>;
// Best score of each target of the task.
@group(0) @binding($output) var<storage, read_write> results: array<i32>;
@group(0) @binding($table) var<storage, read> places: array<PlacedTarget>;

override MATCH: i32 = 1;
override MISMATCH: i32 = -1;
// Score of a pair with an ambiguous base.
override AMBIGUOUS: i32 = -1;
// Bonus of a pair whose query base is an end of the query.
override END_BONUS: i32 = 0;
// Penalties of the first residue of a gap and of each further residue.
override FIRST: i32 = 2;
override EXTEND: i32 = 1;
//!if FRAMED
// Penalty of a change of the frame.
override SHIFT: i32 = 1;
//!end

//!insert substitution_items
//!insert exchange_items
//!insert edge_items

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
//!insert thread_inputs
) {
//!insert thread
    let lane = thread % LANES;
    var task = tasks[group.x];
    let first = (group.z * grid.y + group.y) * PAIRS;
    if (first >= task.count) {
        return;
    }
    // Lane groups after the last target get no columns and store nothing.
    let number = first + thread / LANES;
    let place = places[task.first + min(number, task.count - 1u)];
    task.target_ = place.target_;
    task.cols = select(0u, place.cols, number < task.count);
//!insert steps
    var best = 0;
//!if STRIPS
//!insert strips
//!else
//!insert strip
//!end

    for (var apart = 1u; apart < LANES; apart *= 2u) {
        best = max(best, subgroupShuffleXor(best, apart));
    }
    if (lane == 0u && number < task.count) {
        results[task.result + number] = best;
    }
}
