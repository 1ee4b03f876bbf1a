// The recurrence (Gotoh 1982) in one row of a lane:
//
//     H(i,j)   = max(0, H(i-1,j-1) + s(q_i, t_j), E(i,j), F(i,j))
//     E(i,j+1) = max(E(i,j) - EXTEND, H(i,j) - FIRST)
//     F(i+1,j) = max(F(i,j) - EXTEND, H(i,j) - FIRST)
//
// In modes other than local, H has no minimum. Under gap costs of several pieces, each piece has its own E and F;
// those of piece p are e<p> and f<p>.
//
// On entry, diagonal is H(i-1,j-1), h is H(i,j-1), e is E(i,j) and f is F(i,j). On exit, diagonal and f are those of
// the next row, and h and e those of the next column.

//!slot recurrence
//!insert substitution
        var gap$k = max(e$k, f);
//!for further
        gap$k = max(gap$k, max(e$p_$k, f$p));
//!end
//!if LOCAL
        let t$k = max(max(d$k, 0), gap$k);
//!else
        let t$k = max(d$k, gap$k);
//!end
        let opened$k = t$k - FIRST;
        let e_extended$k = e$k - EXTEND;
        let f_extended$k = f - EXTEND;
//!for further
        let opened$p_$k = t$k - FIRST$p;
        let e$p_extended$k = e$p_$k - EXTEND$p;
        let f$p_extended$k = f$p - EXTEND$p;
//!end
//!insert cell
//!for further
        e$p_$k = max(e$p_extended$k, opened$p_$k);
        f$p = max(f$p_extended$k, opened$p_$k);
//!end
        diagonal = h$k;
        h$k = t$k;
        e$k = max(e_extended$k, opened$k);
        f = max(f_extended$k, opened$k);
