// One row of the band cells that a lane computes (trace.wgsl).
//!slot row
        if (row % LETTERS_PER_WORD == 0u) {
            query = query_letters(task.query + row);
            entering = band_letters(task, first_col + i32($rowsu + row));
        }
        // All bits are set if the query base is ambiguous.
        let base = query & LETTER_MASK & ~QUERY_END;
        let unclear_row = select(0u, ~0u, base == AMBIGUOUS_QUERY);
        if (END_BONUS != 0 && (query & QUERY_END) != 0u) {
            // Before the target, there is no bonus.
//!for rows
            h$k += select(END_BONUS, 0, first_col + i32(row) + $k < 0);
//!end
        }
        // One bit for each differing residue, and for each ambiguous one: of the codes, only those of ambiguous bases
        // have the bit 4 and not the bit 2.
        let same = base * EACH_LETTER;
//!for words
        let apart$w = letters$w ^ same;
        let unclear$w = ((letters$w >> 2u) & ~(letters$w >> 1u)) | unclear_row;
        let differs$w = apart$w | (apart$w >> 1u) | (apart$w >> 2u);
//!end
//!for direction_words
        var bits$word = 0u;
//!end
//!for rows
        let differs_here$k = (differs$w & (1u << (LETTER_BITS * ($ku % LETTERS_PER_WORD)))) != 0u;
        let unclear_here$k = (unclear$w & (1u << (LETTER_BITS * ($ku % LETTERS_PER_WORD)))) != 0u;
        let unequal$k = select(MISMATCH + 2 * EXTEND, AMBIGUOUS + 2 * EXTEND, unclear_here$k);
        let d$k = h$k + select(MATCH + 2 * EXTEND, unequal$k, differs_here$k);
        var gaps$k = max(e, f$next);
//!for further
        gaps$k = max(gaps$k, max(e$p, f$p_$next));
//!end
//!if LOCAL
        let zero$k = height + $k * EXTEND;
        let t$k = max(max(d$k, zero$k), gaps$k);
//!else
//!if FROM_EITHER_START
        let border$k = select(NEVER, height + $k * EXTEND, first_col + i32(row) + $k < 0);
        let t$k = max(max(d$k, border$k), gaps$k);
//!else
        let t$k = max(d$k, gaps$k);
//!end
//!end
        let opened$k = t$k - OPEN;
        var source$k = INSERTION << (CELL_BITS * ($ku % CELLS_PER_WORD));
//!for further_descending
        source$k = select(source$k, (INSERTION | PIECE$p) << (CELL_BITS * ($ku % CELLS_PER_WORD)), t$k == f$p_$next);
//!end
//!if SEVERAL_PIECES
        source$k = select(source$k, INSERTION << (CELL_BITS * ($ku % CELLS_PER_WORD)), t$k == f$next);
//!end
//!for further_descending
        source$k = select(source$k, (DELETION | PIECE$p) << (CELL_BITS * ($ku % CELLS_PER_WORD)), t$k == e$p);
//!end
        source$k = select(source$k, DELETION << (CELL_BITS * ($ku % CELLS_PER_WORD)), t$k == e);
        source$k = select(source$k, DIAGONAL << (CELL_BITS * ($ku % CELLS_PER_WORD)), t$k == d$k);
//!if LOCAL
        source$k = select(source$k, STOP, t$k == zero$k);
//!end
        bits$word |= source$k;
        bits$word |= select(0u, EXTEND_DELETION << (CELL_BITS * ($ku % CELLS_PER_WORD)), e > opened$k);
        bits$word |= select(0u, EXTEND_INSERTION << (CELL_BITS * ($ku % CELLS_PER_WORD)), f$next > opened$k);
//!for further
        let opened$p_$k = t$k - OPEN$p;
        bits$word |= select(0u, EXTEND_DELETION$p << (CELL_BITS * ($ku % CELLS_PER_WORD)), e$p + RISE$p > opened$p_$k);
        bits$word |= select(0u, EXTEND_INSERTION$p << (CELL_BITS * ($ku % CELLS_PER_WORD)), f$p_$next + RISE$p > opened$p_$k);
        e$p = max(e$p + RISE$p, opened$p_$k);
        f$p_$k = max(f$p_$next + RISE$p, opened$p_$k);
//!end
        h$k = t$k;
        e = max(e, opened$k);
        f$k = max(f$next, opened$k);
//!end
//!for direction_words
        directions[word + $wordu * THREADS] = bits$word;
//!end
        word += $directionsu * THREADS;
        height += 2 * EXTEND;
        // The band of the next row begins one column later.
        let letters$words = entering;
//!for words
        letters$w = (letters$w >> LETTER_BITS) | (letters$after << (32u - LETTER_BITS));
//!end
        query >>= LETTER_BITS;
        entering >>= LETTER_BITS;
