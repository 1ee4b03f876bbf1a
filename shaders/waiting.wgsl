// Chained strips whose lanes process one column per step and exchange values through workgroup memory.

//!slot chain_items

//!slot first_run

//!slot entering
        if (lane == 0u) {
            up = vec2<i32>(0, 0);
            if (step < min(entering_columns, task.cols)) {
                let place = entering_from.place + step * 2u;
                var passed = passed_down(place);
                // Polls several times per iteration, because software devices limit the total number of loop
                // iterations.
                for (var asked = 0u; !is_there(passed, entering_from.mark) && !gave_up && asked < patience; asked++) {
//!for columns
                    if (!is_there(passed, entering_from.mark)) {
                        passed = passed_down(place);
                    }
//!end
                }
                gave_up |= !is_there(passed, entering_from.mark);
                up = unmarked(passed);
            }
        }

//!slot leaving
        if (lane == LANES - 1u) {
            let place = leaving_to.place + col * 2u;
            atomicStore(&chain[place], bitcast<u32>(h$last) | leaving_to.mark);
            atomicStore(&chain[place + 1u], bitcast<u32>(f) | leaving_to.mark);
//!insert leave_below_at_once
        }
//!insert pass_line_at_once
