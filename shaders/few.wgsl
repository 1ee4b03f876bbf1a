// The recurrence of recurrence.wgsl for few concurrent tiles. F of the next row depends only on F of this row, which
// shortens the dependency chain: a gap opened from F would score less than F extended.

//!slot recurrence
//!insert substitution
        let without$k = max(max(d$k, 0), e$k);
        let t$k = max(without$k, f);
        let opened$k = t$k - FIRST;
        let e_extended$k = e$k - EXTEND;
        let f_extended$k = f - EXTEND;
//!insert cell
        diagonal = h$k;
        h$k = t$k;
        e$k = max(e_extended$k, opened$k);
        f = max(f_extended$k, without$k - FIRST);
