// Walks back along a path by the directions of its cells, as src/engine/traceback.rs does. Shared by all traceback
// kernels.
//!slot runs
// Stores run `count` of a path if the run is not empty and fits. Returns the number of runs added.
fn leave_run(task: Task, count: u32, len: u32, kind: u32) -> u32 {
    if (len == 0u || count >= task.path_words) {
        return 0u;
    }
    paths[task.path + count] = (len << SOURCE_BITS) | kind;
    return 1u;
}
//!slot path_begin
    var layer = DIAGONAL;
//!if TWO_PIECES
    // Not 0 in a gap of the second piece.
    var second = 0u;
//!end
    var kind = 0u;
    var len = 0u;
    var count = 0u;
//!slot path_step
//!if TWO_PIECES
        let extends_deletion = select(EXTEND_DELETION, EXTEND_SECOND_DELETION, second != 0u);
        let extends_insertion = select(EXTEND_INSERTION, EXTEND_SECOND_INSERTION, second != 0u);
//!else
        let extends_deletion = EXTEND_DELETION;
        let extends_insertion = EXTEND_INSERTION;
//!end
        let goes_on = (layer == DELETION && (bits & extends_deletion) != 0u) || (layer == INSERTION && (bits & extends_insertion) != 0u);
        if (!goes_on) {
            layer = bits & SOURCE_MASK;
//!if TWO_PIECES
            second = bits & SECOND_PIECE;
//!end
            if (layer == STOP) {
                break;
            }
        }
        if (layer != kind) {
            count += leave_run(task, count, len, kind);
            kind = layer;
            len = 0u;
        }
        len++;
//!slot path_rest
//!if FROM_QUERY_START
        // The remaining residues of sequences that align as a whole form a gap.
//!if FROM_TARGET_START
        let left = max(row, col) + 1;
//!else
        let left = row + 1;
//!end
        let gap = select(DELETION, INSERTION, row >= 0);
        if (left > 0 && gap != kind) {
            count += leave_run(task, count, len, kind);
            kind = gap;
            len = 0u;
        }
        len += u32(max(left, 0));
//!end

//!slot path_end
    count += leave_run(task, count, len, kind);
    if (count < task.path_words) {
        paths[task.path + count] = 0u;
    }
