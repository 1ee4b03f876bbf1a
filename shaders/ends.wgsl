// The best end of a lane in modes other than local. Alignments end in the last row of the query; overlaps also end in
// the last column of the target.

//!slot best_begin
        // Only one lane has the last row.
        let last_row = task.rows - 1u - lane * ROWS;
        var top = NONE;

//!slot cell
        top = select(top, t$k, last_row == $ku);

//!slot best_end
        if (top > best && col >= counts_from) {
            best = top;
            best_row = task.rows - 1u;
            best_col = col;
        }

//!slot column_ends
    // No step has changed H after the last column.
    let end_col = task.cols - 1u;
//!if JOINED
    if (task.cols > 0u && end_col >= counts_from && is_last) {
//!else
    if (task.cols > 0u && end_col >= counts_from) {
//!end
//!for rows
        if (lane * ROWS + $ku < task.rows) {
            let end$k = vec3<i32>(h$k, i32(lane * ROWS + $ku), i32(end_col));
            if (better(end$k, vec3<i32>(best, i32(best_row), i32(best_col)))) {
                best = end$k.x;
                best_row = u32(end$k.y);
                best_col = u32(end$k.z);
            }
        }
//!end
    }
