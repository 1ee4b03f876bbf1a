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
    // The bits of the piece of a gap.
    var piece = 0u;
    var kind = 0u;
    var len = 0u;
    var count = 0u;
//!slot path_step
        var extends_deletion = EXTEND_DELETION;
        var extends_insertion = EXTEND_INSERTION;
//!for further
        extends_deletion = select(extends_deletion, EXTEND_DELETION$p, piece == PIECE$p);
        extends_insertion = select(extends_insertion, EXTEND_INSERTION$p, piece == PIECE$p);
//!end
        let goes_on = (layer == DELETION && (bits & extends_deletion) != 0u) || (layer == INSERTION && (bits & extends_insertion) != 0u);
        if (!goes_on) {
            layer = bits & SOURCE_MASK;
            piece = bits & PIECE_MASK;
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
