// Staggered strips: a workgroup scores a whole pair whose query takes several strips, and waits for no other workgroup.
//
// The recurrence is that of a tile (tile.wgsl). A workgroup has LEVELS levels, a subgroup each, which take as many strips at a
// time, one below the other. All go LANES columns a turn. A level is LAG turns behind the one above: what it takes from there
// lies in workgroup memory before the turn begins. What leaves the lowest level is kept in memory, for each column, until the
// highest one comes there with the next strips.

@group(0) @binding(0) var<storage, read> tasks: array<Task>;
@group(0) @binding(1) var<storage, read> queries: array<u32>;
@group(0) @binding(2) var<storage, read> targets: array<u32>;
// H and F below the lowest level, for each column of each task, as multiples of SCALE.
@group(0) @binding(3) var<storage, read_write> edges: array<vec2<i32>>;

override MATCH: i32 = 1;
override MISMATCH: i32 = -1;
// What the first residue of a gap costs, and each further one; multiples of SCALE.
override FIRST: i32 = 2;
override EXTEND: i32 = 1;

//!insert substitution_items
//!insert exchange_items
//!insert kept_items

// The last lane leaves the columns of a turn until the end of the next one.
const LAG = 2u;
// Columns of a level that are kept: those that the next level takes, and those that may be written meanwhile.
const KEPT = 4u * LANES;
// H and F below each level, column by column in turns, as multiples of SCALE.
var<workgroup> below: array<array<vec2<i32>, KEPT>, LEVELS>;
// The best cell of each level: score, query row, column.
var<workgroup> bests: array<vec3<i32>, LEVELS>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
//!insert thread_inputs
) {
//!insert thread
    let lane = thread % LANES;
    let level = thread / LANES;
    let place = group.y * grid.x + group.x;
    if (place >= arrayLength(&tasks)) {
        return;
    }
    var task = tasks[place];
    if (task.cols == 0u) {
        return;
    }
    if (lane == 0u) {
        bests[level] = vec3<i32>(0, 0, 0);
    }
    // Turns in which some lane of a level has a column.
    let own_turns = (task.cols + 2u * LANES - 2u) / LANES;
    // Tile rows above the first residue: negative from the second strip on.
    task.pad -= level * LANES * ROWS;
    for (var highest = 0u; highest < task.strips; highest += LEVELS) {
        let strip = highest + level;
//!insert query_rows
        var corner = 0;
//!for rows
        var h$k = 0;
        var e$k = 0;
//!end
//!insert state
//!insert exchange_begin
        // What enters the highest level in the next run of columns, one a lane: a lane that read its own column would wait for
        // memory in every step.
        var next_run = edges[task.edges + min(lane, task.cols - 1u)];
        var step = 0u;
        let turns = own_turns + LEVELS * LAG;
        for (var turn = 0u; turn < turns; turn++) {
            // Wraps to a large number before the level's first one.
            let own_turn = turn - level * LAG;
            let mine = own_turn * LANES + lane;
            var run = below[max(level, 1u) - 1u][mine % KEPT];
            if (level == 0u) {
                run = next_run;
                next_run = edges[task.edges + min(mine + LANES, task.cols - 1u)];
            }
            // Zeros enter above the first strip, and behind the last column.
            run = select(vec2<i32>(0, 0), run, strip > 0u && mine < task.cols);
            // That all lanes do the same has to be seen, or each step takes a third longer.
            let has_columns = own_turn < own_turns && strip < task.strips;
            let end = subgroupMax(step + select(0u, LANES, has_columns));
            for (; step < end; ) {
//!for columns
//!insert step
//!end
            }
            // The columns that the lowest level is done with, while it still writes others.
            let kept = mine - LAG * LANES;
            if (level + 1u == LEVELS && strip + 1u < task.strips && kept < task.cols) {
                edges[task.edges + kept] = below[level][kept % KEPT];
            }
            workgroupBarrier();
        }
        let chosen = first_of_lanes(best, best_row, best_col, thread);
        let cell = vec3<i32>(chosen.x, chosen.y - i32(task.pad), chosen.z);
        if (lane == 0u && better(cell, bests[level])) {
            bests[level] = cell;
        }
        task.pad -= LEVELS * LANES * ROWS;
        storageBarrier();
        workgroupBarrier();
    }
    if (thread == 0u) {
        var cell = bests[0];
        for (var other = 1u; other < LEVELS; other++) {
            if (better(bests[other], cell)) {
                cell = bests[other];
            }
        }
        results[task.result] = vec4<i32>(cell, 0);
    }
}
