// The best cell of a lane if the scores leave no bits for the row: the row is searched for.

//!slot best_begin
        var top = 0;

//!slot cell
        top = max(top, t$k);

//!slot best_end
        if (top > best && col >= counts_from) {
            best = top;
            best_col = col;
//!for rows_descending
            best_row = select(best_row, lane * ROWS + $ku, h$k == top);
//!end
        }
