// The recurrence (Gotoh 1982) in one row of a lane:
//
//     H(i,j)   = max(0, H(i-1,j-1) + s(q_i, t_j), E(i,j), F(i,j))
//     E(i,j+1) = max(E(i,j) - EXTEND, H(i,j) - FIRST)
//     F(i+1,j) = max(F(i,j) - EXTEND, H(i,j) - FIRST)
//
// In modes other than local, H has no minimum. Under gap costs of two pieces, each piece has its own E and F; those of
// the second are e2 and f2.
//
// On entry, diagonal is H(i-1,j-1), h is H(i,j-1), e is E(i,j) and f is F(i,j). On exit, diagonal and f are those of
// the next row, and h and e those of the next column.

//!slot recurrence
//!insert substitution
//!if TWO_PIECES
        let gap$k = max(max(e$k, f), max(e2_$k, f2));
//!else
        let gap$k = max(e$k, f);
//!end
//!if LOCAL
        let t$k = max(max(d$k, 0), gap$k);
//!else
        let t$k = max(d$k, gap$k);
//!end
        let opened$k = t$k - FIRST;
        let e_extended$k = e$k - EXTEND;
        let f_extended$k = f - EXTEND;
//!if TWO_PIECES
        let opened2_$k = t$k - SECOND_FIRST;
        let e2_extended$k = e2_$k - SECOND_EXTEND;
        let f2_extended$k = f2 - SECOND_EXTEND;
//!end
//!insert cell
//!if TWO_PIECES
        e2_$k = max(e2_extended$k, opened2_$k);
        f2 = max(f2_extended$k, opened2_$k);
//!end
        diagonal = h$k;
        h$k = t$k;
        e$k = max(e_extended$k, opened$k);
        f = max(f_extended$k, opened$k);
