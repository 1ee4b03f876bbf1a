// Chained strips: each waits for what the one above leaves, while both run.

//!slot edge_items
//!insert edge_values
// How many tasks are taken, how often a strip asks in vain before it gives up, how many slots there are, and columns
// of each; columns from one vertical line to the next, where there are lines, and edge values likewise; then the
// slots, H and F of a strip's last row in each column. Strips take the slots in turns, so a mark
// below each value says whose it is: strips that run side by side have no mark in one slot in common.
@group(0) @binding(7) var<storage, read_write> chain: array<atomic<u32>>;

var<workgroup> taken: u32;

// What a strip leaves: its mark, and where that of its first column lies.
struct Handed {
    mark: u32,
    place: u32,
}
fn handed(strip: u32, first_col: u32) -> Handed {
    let slots = atomicLoad(&chain[2]);
    let place = CHAIN_HEAD + (strip % slots * atomicLoad(&chain[3]) + first_col) * 2u;
    return Handed(strip / slots % (MARKS - 1u) + 1u, place);
}
// Each word says for itself whether it is there: nothing orders one before the other.
fn passed_down(place: u32) -> vec2<u32> {
    return vec2<u32>(atomicLoad(&chain[place]), atomicLoad(&chain[place + 1u]));
}
fn is_there(passed: vec2<u32>, mark: u32) -> bool {
    return all((passed & vec2<u32>(MARKS - 1u)) == vec2<u32>(mark));
}
// Marks are smaller than what values are multiples of.
const MARKS = u32(SCALE);
fn unmarked(passed: vec2<u32>) -> vec2<i32> {
    return bitcast<vec2<i32>>(passed & vec2<u32>(~(MARKS - 1u)));
}
//!insert chain_items

//!slot first_task
    // Tasks are taken in their order, so the strip that this one waits for has begun before it.
    if (thread == 0u) {
        taken = atomicAdd(&chain[0], 1u);
    }
    let first_task = workgroupUniformLoad(&taken);
    if (first_task >= arrayLength(&tasks) || tasks[first_task].cols == 0u) {
        return;
    }

//!slot left_edge
//!insert strip_places
    var corner = 0;
//!for rows
    var h$k = 0;
    var e$k = 0;
//!end
//!insert left_values

//!slot upper_edge
    // What enters from above is read before the first lane comes there; the last lane comes to write there
    // later.
    let last_col = max(task.cols, 1u) - 1u;
    // What a strip above leaves is waited for; columns that none leaves hold zeros.
    let entering_columns = task.entering;
    let entering_from = handed(task.result - 1u, task.chain);
    let leaving_to = handed(task.result, task.chain);
    let patience = atomicLoad(&chain[1]);
//!insert lines
    var gave_up = false;
//!insert first_run
