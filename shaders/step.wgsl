// One step of the wavefront: a column of each lane's rows.

//!slot cells
//!insert letter_scores
//!insert column
//!for rows
//!insert recurrence
//!end
//!insert column_end

//!slot step
    {
        // Wraps to a large number before the target.
        let col = step - lane;
        let inside = col < task.cols;
//!insert letter_and_above
//!insert entering
//!if GUARDED
        if (inside) {
//!end
//!insert row_above
//!insert cells
//!insert publish
//!insert leaving
//!if GUARDED
        }
//!end
//!insert step_end
        step++;
    }
