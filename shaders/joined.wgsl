// Joined tiles: each finds in memory what tiles of earlier dispatches left, and leaves its own.

//!slot edge_items
//!insert edge_values

//!slot left_edge
//!insert places
    var corner = edges[task.left + lane * ROWS].x * SCALE;
//!for rows
    let left$k = edges[task.left + lane * ROWS + $ku + 1u] * SCALE;
    var h$k = left$k.x;
    var e$k = left$k.y;
//!end

//!slot upper_edge
    // What enters from above is read before the first lane comes there; the last lane comes to write there
    // later.
    let last_col = max(task.cols, 1u) - 1u;
//!if SUBGROUP
    // That of a run of columns, one a lane, and of the run behind it: a lane that read its own column would wait
    // for memory in every step.
    var next_run = edges[task.above + min(lane, last_col)] * SCALE;
    var run = next_run;
//!else
    // That of the next column.
    var above = edges[task.above] * SCALE;
//!end

//!slot entering
//!if SUBGROUP
        if (step % LANES == 0u) {
            run = next_run;
            next_run = edges[task.above + min(step + LANES + lane, last_col)] * SCALE;
        }
        let entering = subgroupShuffle(run, invocation - lane + step % LANES);
        if (lane == 0u) {
            up = entering;
        }
//!else
        if (lane == 0u) {
            up = above;
            above = edges[task.above + min(step + 1u, last_col)] * SCALE;
        }
//!end

//!slot leaving
        if (lane == LANES - 1u) {
            edges[below + col] = vec2<i32>(h$last, f) / SCALE;
        }

//!slot right_edge
    if (task.cols > 0u) {
//!insert leave_right
    }
