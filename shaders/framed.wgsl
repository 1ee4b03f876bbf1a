// The recurrence over the codons of all frames (src/engine/rows.rs) in one row of a lane. Row i is a base, and its letter
// is the residue of the codon that ends there:
//
//     M(i,j)   = max(H(i-3,j-1), H(i-4,j-1) - SHIFT, H(i-2,j-1) - SHIFT)
//     H(i,j)   = max(0, M(i,j) + s(q_i, t_j), E(i,j), F(i,j))
//     E(i,j+1) = max(E(i,j) - EXTEND, H(i,j) - FIRST)
//     F(i+3,j) = max(F(i,j) - EXTEND, H(i,j) - FIRST)
//
// On entry, before.x to before.w are H(i-1,j-1) to H(i-4,j-1), h is H(i,j-1), e is E(i,j), and f.x to f.z are F(i,j),
// F(i+1,j) and F(i+2,j). On exit, before and f are those of the next row, and h and e those of the next column.

//!slot recurrence
        let diagonal$k = max(before.z, max(before.y, before.w) - SHIFT);
//!insert substitution
        let t$k = max(max(d$k, 0), max(e$k, f.x));
        let opened$k = t$k - FIRST;
//!insert cell
        before = vec4<i32>(h$k, before.xyz);
        h$k = t$k;
        e$k = max(e$k - EXTEND, opened$k);
        f = vec3<i32>(f.yz, max(f.x - EXTEND, opened$k));
