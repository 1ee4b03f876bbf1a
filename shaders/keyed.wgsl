// The best cell of a lane where the row stands below the score, the first of equals largest: no search for it later.

//!slot best_begin
        var top = 0;

//!slot cell
        top = max(top, t$k + (SCALE - 1 - $k));

//!slot best_end
        if (top > (best | (SCALE - 1)) && col >= counts_from) {
            best = top;
            best_col = col;
        }
