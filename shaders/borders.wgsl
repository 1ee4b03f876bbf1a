// A tile without neighbors in modes other than local: the values at the borders of the matrix (Edges::at_borders in
// src/engine/block.rs). Rows outside the query are below it, so no alignment passes through them.

//!slot edge_items
// H at a border, after `len` residues of one sequence and none of the other.
fn gap(len: u32) -> i32 {
    var cost = FIRST + i32(len - 1u) * EXTEND;
//!for further
    cost = min(cost, FIRST$p + i32(len - 1u) * EXTEND$p);
//!end
    return select(0, -cost, len > 0u);
}
fn above(cols: u32) -> i32 {
//!if FROM_TARGET_START
    return gap(cols);
//!else
    return 0;
//!end
}
fn before(rows: u32) -> i32 {
//!if FROM_QUERY_START
    return gap(rows);
//!else
    return 0;
//!end
}

//!slot left_edge
    var corner = before(lane * ROWS);
//!for rows
    var h$k = before(lane * ROWS + $ku + 1u);
    var e$k = h$k - FIRST;
//!for further
    var e$p_$k = h$k - FIRST$p;
//!end
//!end

//!slot upper_edge

//!slot entering
        if (lane == 0u) {
            let h_above = above(col + 1u);
            up = vec2<i32>(h_above, h_above - FIRST);
//!for further
            up$p = h_above - FIRST$p;
//!end
        }

//!slot leaving

//!slot all_steps
    // H outside the target must not replace the values at its borders, so work is masked while some lane has no column.
//!insert inner
    for (; step < min(LANES, steps); ) {
//!with GUARDED
//!insert step
//!end
    }
    for (; step + COLUMNS <= inner; ) {
//!for columns
//!insert step
//!end
//!insert turn_end
    }
    for (; step < steps; ) {
//!with GUARDED
//!insert step
//!end
//!insert turn_end
    }

//!slot right_edge
