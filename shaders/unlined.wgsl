// Chained strips whose runs of columns are joined at vertical edges.

//!slot strip_places
    let right = task.right;

//!slot left_values
    if (task.left != NOWHERE) {
        corner = edges[task.left + lane * ROWS].x * SCALE;
//!for rows
        let left$k = edges[task.left + lane * ROWS + $ku + 1u] * SCALE;
        h$k = left$k.x;
        e$k = left$k.y;
//!end
    }

//!slot lines

//!slot right_edge
    if (right != NOWHERE) {
//!insert leave_right
    }

//!slot leave_below_at_once

//!slot pass_line_at_once

//!slot plain_from
    let counting_from = select(counts_from + LANES, 0u, counts_from == 0u);
    let plain_from = subgroupMax(max(select(LANES, 0u, task.left == NOWHERE), counting_from));
    let plain_to = subgroupMin(select(task.cols, steps + COLUMNS - 1u, task.right == NOWHERE));

//!slot plain_to

//!slot leave_line

//!slot pass_line

//!slot leave_below
