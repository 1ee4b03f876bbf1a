// Joined tiles: each reads the edges that tiles of earlier dispatches stored, and stores its own.

//!slot edge_items
//!insert edge_values

//!slot left_edge
//!insert places
    var corner = edges[task.left + lane * ROWS].x * SCALE;
//!for rows
    let left$k = edges[task.left + lane * ROWS + $ku + 1u] * SCALE;
    var h$k = left$k.x;
    var e$k = left$k.y;
//!for further
    var e$p_$k = further_gaps[(task.left + lane * ROWS + $ku + 1u) * FURTHER + $beforeu] * SCALE;
//!end
//!end

//!slot upper_edge
    // The last lane overwrites the edge above with the edge below without a barrier. The value that it writes to a
    // column depends, through the lanes in between, on the value that was read from the column, so the write cannot
    // come first. Reads are clamped to the last column; a value that a lane reads instead of a later column is never
    // used.
    let last_col = max(task.cols, 1u) - 1u;
//!if SUBGROUP
    // The edge of a run of columns, one in each lane, and of the next run. If each lane read its own column, it would
    // wait for memory in every step.
    var next_run = edges[task.above + min(lane, last_col)] * SCALE;
    var run = next_run;
//!for further
    var next_run$p = further_gaps[(task.above + min(lane, last_col)) * FURTHER + $beforeu] * SCALE;
    var run$p = next_run$p;
//!end
//!else
    // Edge of the next column.
    var above = edges[task.above] * SCALE;
//!for further
    var above$p = further_gaps[(task.above) * FURTHER + $beforeu] * SCALE;
//!end
//!end

//!slot entering
//!if SUBGROUP
        if (step % LANES == 0u) {
            run = next_run;
            next_run = edges[task.above + min(step + LANES + lane, last_col)] * SCALE;
//!for further
            run$p = next_run$p;
            next_run$p = further_gaps[(task.above + min(step + LANES + lane, last_col)) * FURTHER + $beforeu] * SCALE;
//!end
        }
        let entering = subgroupShuffle(run, invocation - lane + step % LANES);
//!for further
        let entering$p = subgroupShuffle(run$p, invocation - lane + step % LANES);
//!end
        if (lane == 0u) {
            up = entering;
//!for further
            up$p = entering$p;
//!end
        }
//!else
        if (lane == 0u) {
            up = above;
            above = edges[task.above + min(step + 1u, last_col)] * SCALE;
//!for further
            up$p = above$p;
            above$p = further_gaps[(task.above + min(step + 1u, last_col)) * FURTHER + $beforeu] * SCALE;
//!end
        }
//!end

//!slot leaving
        if (lane == LANES - 1u) {
            edges[below + col] = vec2<i32>(h$last, f) / SCALE;
//!for further
            further_gaps[(below + col) * FURTHER + $beforeu] = f$p / SCALE;
//!end
        }

//!slot right_edge
//!if TO_EITHER_END
    // No tile adjoins the last column of the target, where overlaps end.
    let is_last = right == NOWHERE;
    if (task.cols > 0u && !is_last) {
//!else
    if (task.cols > 0u) {
//!end
//!insert leave_right
    }
