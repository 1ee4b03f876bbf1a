// The tile: the recurrence over LANES * ROWS query rows and any number of target columns.
//
// Lane l of a task owns the tile rows l*ROWS .. l*ROWS+ROWS-1: their letters (or profile words), H of
// the last column (h) and E of the next one (e), all in registers. At step s it is at column s - l,
// so that the cells of one step lie along an anti-diagonal. From lane l-1 it takes what that lane
// published one step ago: H and F of the row above.
//
// Values are multiples of SCALE: where that is more than 1, a row fits below a score.
//
// Rows outside the query match nothing. Where scores are asked for they stand above it, so that H
// stays 0 in them; behind it stand rows only where no score is asked for. Columns outside the target
// match nothing either: before it H stays 0, behind it nothing exceeds what came before.
//
// Parts fill the slots, one file of each line:
//
//     recurrence.wgsl few.wgsl                                     the cells of a column
//     packed.wgsl compared.wgsl profile.wgsl shared_profile.wgsl   s(q, t)
//     subgroup.wgsl workgroup.wgsl                                 how lanes exchange values
//     alone.wgsl joined.wgsl chained.wgsl                          how the tile meets others
//     score.wgsl fill.wgsl                                         what is kept

@group(0) @binding(0) var<storage, read> tasks: array<Task>;
@group(0) @binding(1) var<storage, read> queries: array<u32>;
@group(0) @binding(2) var<storage, read> targets: array<u32>;

override MATCH: i32 = 1;
override MISMATCH: i32 = -1;
// What the first residue of a gap costs, and each further one; multiples of SCALE.
override FIRST: i32 = 2;
override EXTEND: i32 = 1;

//!insert substitution_items
//!insert exchange_items
//!insert edge_items
//!insert kept_items

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
//!insert thread_inputs
) {
//!insert thread
//!insert first_task
    let lane = thread % LANES;
    let task = tasks[first_task + thread / LANES];
//!insert steps
//!insert query_rows
//!insert left_edge
//!insert upper_edge
//!insert state
//!insert exchange_begin

    var step = 0u;
//!insert all_steps
//!insert right_edge
//!insert finish
}

