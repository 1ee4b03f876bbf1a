// Edge values, which adjacent tiles exchange through memory.

//!slot edge_values
// H and F, or H and E, at tile edges. A tile reads the values that enter and stores those that leave, usually in the
// same position.
@group(0) @binding($edges) var<storage, read_write> edges: array<vec2<i32>>;
//!if SEVERAL_PIECES
// F, or E, of the further pieces, FURTHER values for each position.
@group(0) @binding($further_gaps) var<storage, read_write> further_gaps: array<i32>;
//!end

//!slot leave_right
//!for rows
        edges[right + lane * ROWS + $ku + 1u] = vec2<i32>(h$k, e$k) / SCALE;
//!for further
        further_gaps[(right + lane * ROWS + $ku + 1u) * FURTHER + $beforeu] = e$p_$k / SCALE;
//!end
//!end
        if (lane == 0u) {
            edges[right].x = corner / SCALE;
        }
