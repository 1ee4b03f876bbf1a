// One step of the wavefront: a column of each lane's rows.
//!slot cells
//!if PACKED
        // No byte stands for other letters. Outside the target a score of 0 does no harm; for an
        // ambiguous letter the mismatch is taken off what will be the diagonals of this column.
        let one_hot = select(0u, u32(SCALE) << (8u * (letter & 3u)), letter < 4u);
        if (letter == AMBIGUOUS_TARGET) {
            diagonal += MISMATCH * SCALE;
//!for rows
            h$k += MISMATCH * SCALE;
//!end
        }
//!end
//!insert column
//!for rows
//!if SHARED
//!if FIRST_OF_16
        let word$k = profile[($ku / 16u * CODES + letter) * LANES + lane];
//!end
        let d$k = diagonal + dot4I8Packed(word$16[$ku / 4u % 4u], u32(SCALE) << (8u * ($ku % 4u)));
//!else
//!if PROFILE
//!if FIRST_OF_4
        let word$k = profile[($ku / 4u * CODES + letter) * THREADS + thread];
//!end
        let d$k = diagonal + dot4I8Packed(word$4, u32(SCALE) << (8u * ($ku % 4u)));
//!else
//!if PACKED
        let d$k = diagonal + dot4I8Packed(q$k, one_hot);
//!else
        let d$k = diagonal + select(MISMATCH * SCALE, MATCH * SCALE, letter == q$k);
//!end
//!end
//!end
//!if FEW
        // What F of the next row waits for is F of this one alone: opened from F it would be less than extended.
        let without$k = max(max(d$k, 0), e$k);
        let t$k = max(without$k, f);
//!else
        let t$k = max(max(d$k, 0), max(e$k, f));
//!end
        let opened$k = t$k - FIRST;
        let e_extended$k = e$k - EXTEND;
        let f_extended$k = f - EXTEND;
//!insert cell
        diagonal = h$k;
        h$k = t$k;
        e$k = max(e_extended$k, opened$k);
//!if FEW
        f = max(f_extended$k, without$k - FIRST);
//!else
        f = max(f_extended$k, opened$k);
//!end
//!end
//!insert column_end
//!slot step
    {
        // Wraps to a large number before the target.
        let col = step - lane;
        let inside = col < task.cols;
//!if CHAINED
        let key = 0;
//!end
//!if SHUFFLE
        if (step % LETTERS_PER_WORD == 0u && step < task.cols) {
            letters = target_letters(task, step);
        }
        let fresh = select(NO_TARGET, letters & LETTER_MASK, step < task.cols);
        letters >>= LETTER_BITS;
        let passed = subgroupShuffleUp(letter, 1u);
        letter = select(passed, fresh, lane == 0u);
        var up = vec2<i32>(subgroupShuffleUp(h$last, 1u), subgroupShuffleUp(f, 1u));
//!if EDGES
        if (step % LANES == 0u) {
            run = next_run;
            next_run = edges[task.above + min(step + LANES + lane, last_col)] * SCALE;
        }
        let entering = subgroupShuffle(run, invocation - lane + step % LANES);
//!end
//!else
        let place = task.target_ + select(0u, col, inside);
        let loaded = (targets[place / LETTERS_PER_WORD] >> (place % LETTERS_PER_WORD * LETTER_BITS)) & LETTER_MASK;
        let letter = select(NO_TARGET, loaded, inside);
        let slot = (step & 1u) * (THREADS + 1u) + thread;
        var up = exchange[THREADS + 1u - (step & 1u) * (THREADS + 1u) + thread];
//!end
        if (lane == 0u) {
//!if EDGES
//!if SHUFFLE
            up = entering;
//!else
//!if CHAINED
            up = vec2<i32>(0, 0);
            if (step < min(entering_columns, task.cols)) {
                let place = entering_from.place + step * 2u;
                var passed = passed_down(place);
                // Several times a turn: software devices count the turns of all loops, and end them.
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
//!else
            up = above;
            above = edges[task.above + min(step + 1u, last_col)] * SCALE;
//!end
//!end
//!else
            up = vec2<i32>(0, 0);
//!end
        }
//!if GUARDED
        if (inside) {
//!end
        var diagonal = corner;
        corner = up.x;
//!if SHUFFLE
        f = up.y;
//!else
        var f = up.y;
//!end
//!insert cells
//!if SHUFFLE
//!else
        exchange[slot + 1u] = vec2<i32>(h$last, f);
//!end
//!if EDGES
        if (lane == LANES - 1u) {
//!if CHAINED
            let place = leaving_to.place + col * 2u;
            atomicStore(&chain[place], bitcast<u32>(h$last) | leaving_to.mark);
            atomicStore(&chain[place + 1u], bitcast<u32>(f) | leaving_to.mark);
//!if LINED
            if (below != NOWHERE) {
                edges[below + col] = vec2<i32>(h$last, f) / SCALE;
            }
//!end
//!else
            edges[below + col] = vec2<i32>(h$last, f) / SCALE;
//!end
        }
//!end
//!if LINED
//!insert line
        if (col == line_col) {
            line_col += side;
            line_place += lines_apart;
        }
//!end
//!if GUARDED
        }
//!end
//!if SHUFFLE
//!else
        workgroupBarrier();
//!end
        step++;
    }
