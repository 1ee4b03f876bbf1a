// Chained strips that store edge values on the lines between blocks. Nothing reads their scores. The `at_once` slots
// handle single steps, the others blocks of steps.

//!slot strip_places
    let below = task.below;

//!slot left_values

//!slot lines
    let side = atomicLoad(&chain[4]);
    let lines_apart = atomicLoad(&chain[5]);
    var line_col = task.line_col;
    var line_place = task.line_place;

//!slot right_edge

//!slot leave_line
            // A vertical line adjoins this column on the right.
            if (col == line_col) {
//!for rows
                edges[line_place + lane * ROWS + $ku + 1u] = vec2<i32>(h$k, e$k) / SCALE;
//!end
                if (lane == 0u) {
                    edges[line_place].x = corner / SCALE;
                }
            }

//!slot leave_below_at_once
            if (below != NOWHERE) {
                edges[below + col] = vec2<i32>(h$last, f) / SCALE;
            }

//!slot pass_line_at_once
//!insert leave_line
        if (col == line_col) {
            line_col += side;
            line_place += lines_apart;
        }

//!slot plain_from
    let plain_from = 0u;

//!slot plain_to
        let plain_to = subgroupMin(min(steps + COLUMNS - 1u, line_col));

//!slot pass_line
            if (line_col != NOWHERE && step >= line_col + LANES) {
                line_col += side;
                line_place += lines_apart;
            }

//!slot leave_below
            if (below != NOWHERE) {
//!for columns
                if (step + $cu - lane < task.cols) {
                    edges[below + step + $cu - lane] = leaving$c / SCALE;
                }
//!end
            }
