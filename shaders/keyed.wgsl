// The best cell of a lane if the low bits of the score hold the row: the first of equal scores is the largest value, so
// no later search is needed.

//!slot best_begin
        var top = 0;

//!slot cell
        top = max(top, t$k + (SCALE - 1 - $k));

//!slot best_end
        if (top > (best | (SCALE - 1)) && col >= counts_from) {
            best = top;
            best_col = col;
        }
