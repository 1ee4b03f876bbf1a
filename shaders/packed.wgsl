// Small match and mismatch scores: each row keeps its scores against A, C, G and T in one word, and a dot product with
// the target's one-hot word selects one of them.

//!slot row_items
// Returns the scores of a query base against A, C, G and T, one byte each. A row outside the query gets only
// mismatches.
fn packed_scores(letter: u32, there: bool) -> u32 {
    if (there && letter == AMBIGUOUS_QUERY) {
        return (u32(AMBIGUOUS) & 0xffu) * 0x01010101u;
    }
    let mismatches = (u32(MISMATCH) & 0xffu) * 0x01010101u;
    let matched = ((u32(MISMATCH) ^ u32(MATCH)) & 0xffu) << (8u * (letter & 3u));
    return mismatches ^ select(0u, matched, there && letter < BASES);
}

//!slot query_row
    let q$k = packed_scores(letter$k, there$k);

//!slot letter_scores
        // Other codes have no byte. A score of 0 does no harm outside the target; for an ambiguous base, its score is
        // added to the values that become the diagonals of this column.
        let one_hot = select(0u, u32(SCALE) << (8u * (letter & 3u)), letter < BASES);
        if (letter == AMBIGUOUS_TARGET) {
            diagonal += AMBIGUOUS * SCALE;
//!for rows
            h$k += AMBIGUOUS * SCALE;
//!end
        }

//!slot substitution
        let d$k = diagonal + dot4I8Packed(q$k, one_hot);
