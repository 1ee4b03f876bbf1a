// The tile: the recurrence over LANES * ROWS query rows and any number of target columns.
//
// Lane l of a task owns the tile rows l*ROWS .. l*ROWS+ROWS-1: their residues (or profile words), H of the last column
// (h) and E of the next column (e), all in registers. At step s it computes column s - l, so the cells of one step form
// an anti-diagonal. It receives from lane l-1 the values of the previous step: H and F of the row above.
//
// Values are multiples of SCALE: if SCALE is more than 1, the low bits of a score can hold a row.
//
// Rows outside the query match nothing. If the kernel keeps scores in local mode, these rows are above the query, so H
// stays 0 in them. Rows below the query occur only in kernels that keep no scores, and in other modes. Columns outside
// the target match nothing either: before the target H stays 0, and after it no value exceeds the earlier ones.
//
// Parts fill the slots, one file of each line:
//
//     recurrence.wgsl few.wgsl                                     the cells of a column
//     packed.wgsl compared.wgsl profile.wgsl shared_profile.wgsl   s(q, t)
//     subgroup.wgsl workgroup.wgsl                                 how lanes exchange values
//     alone.wgsl borders.wgsl joined.wgsl chained.wgsl             how the tile meets others
//     score.wgsl fill.wgsl                                         what is kept

@group(0) @binding($tasks) var<storage, read> tasks: array<Task>;
@group(0) @binding($queries) var<storage, read> queries: array<u32>;
@group(0) @binding($targets) var<storage, read> targets: array<u32>;

override MATCH: i32 = 1;
override MISMATCH: i32 = -1;
// Score of a pair with an ambiguous base.
override AMBIGUOUS: i32 = -1;
// Bonus of a pair whose query base is an end of the query.
override END_BONUS: i32 = 0;
// Penalties of the first residue of a gap and of each further residue; multiples of SCALE.
override FIRST: i32 = 2;
override EXTEND: i32 = 1;
//!for further
// The same of piece $p of the gap costs, counted from 0.
override FIRST$p: i32 = 3;
override EXTEND$p: i32 = 1;
//!end

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

