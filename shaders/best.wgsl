// Only the best score of all rows of a lane.

//!slot owner
    let owner = task;

//!slot strip
//!insert query_rows
//!insert left_edge
//!insert upper_edge
//!insert exchange_begin
    var step = 0u;
//!insert all_steps

//!slot column

//!slot cell
        best = max(best, t$k);

//!slot column_end

//!slot turn_end
