// Small match and mismatch scores: each row keeps its scores against A, C, G and T in one word, and a dot product with
// the target's one-hot word selects one of them.

//!slot row_items
// Returns the scores of a query base against A, C, G and T, one byte each. A row outside the query gets only
// mismatches.
fn packed_scores(letter: u32, there: bool) -> u32 {
    let base = letter & ~QUERY_END;
    let bonus = select(0, END_BONUS, there && (letter & QUERY_END) != 0u);
    if (there && base == AMBIGUOUS_QUERY) {
        return (u32(AMBIGUOUS + bonus) & 0xffu) * 0x01010101u;
    }
    let mismatches = (u32(MISMATCH + bonus) & 0xffu) * 0x01010101u;
    let matched = ((u32(MISMATCH + bonus) ^ u32(MATCH + bonus)) & 0xffu) << (8u * (letter & 3u));
    return mismatches ^ select(0u, matched, there && base < BASES);
}

// Returns the end bonus of a lane's row.
fn bonus_of(ends: u32, row: u32) -> i32 {
    return select(0, END_BONUS * SCALE, (ends & 0xffu) == row + 1u || (ends >> 8u) == row + 1u);
}

//!slot end_rows
    // The lane's rows that hold ends of the query, at most two: one byte each, counted from 1.
    var ends = 0u;

//!slot query_row
    let q$k = packed_scores(letter$k, there$k);
    ends = select(ends, (ends << 8u) | ($ku + 1u), there$k && (letter$k & QUERY_END) != 0u);

//!slot letter_scores
        // Other codes have no byte. A score of 0 does no harm outside the target; for an ambiguous base, its score is
        // added to the values that become the diagonals of this column.
        let one_hot = select(0u, u32(SCALE) << (8u * (letter & 3u)), letter < BASES);
        if (letter == AMBIGUOUS_TARGET) {
            diagonal += AMBIGUOUS * SCALE + bonus_of(ends, 0u);
//!for rows
            h$k += AMBIGUOUS * SCALE + bonus_of(ends, $ku + 1u);
//!end
        }

//!slot substitution
        let d$k = diagonal + dot4I8Packed(q$k, one_hot);
