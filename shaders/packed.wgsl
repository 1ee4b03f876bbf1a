// Match or mismatch, small: each row has its scores against A, C, G and T in a word, and a dot product with the target's
// one-hot word takes one of them.

//!slot row_items
// The scores of a query letter against A, C, G and T, a byte each; mismatches alone where there is no letter.
fn packed_scores(letter: u32, there: bool) -> u32 {
    let mismatches = (u32(MISMATCH) & 0xffu) * 0x01010101u;
    let matched = ((u32(MISMATCH) ^ u32(MATCH)) & 0xffu) << (8u * (letter & 3u));
    return mismatches ^ select(0u, matched, there && letter < BASES);
}

//!slot query_row
    let q$k = packed_scores(letter$k, there$k);

//!slot letter_scores
        // No byte stands for other letters. Outside the target a score of 0 does no harm; for an
        // ambiguous letter the mismatch is taken off what will be the diagonals of this column.
        let one_hot = select(0u, u32(SCALE) << (8u * (letter & 3u)), letter < BASES);
        if (letter == AMBIGUOUS_TARGET) {
            diagonal += MISMATCH * SCALE;
//!for rows
            h$k += MISMATCH * SCALE;
//!end
        }

//!slot substitution
        let d$k = diagonal + dot4I8Packed(q$k, one_hot);
