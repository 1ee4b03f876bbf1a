// Edge values, which adjacent tiles exchange through memory.

//!slot edge_values
// H and F, or H and E, at tile edges. A tile reads the values that enter and stores those that leave, usually in the
// same position.
@group(0) @binding(3) var<storage, read_write> edges: array<vec2<i32>>;

//!slot leave_right
//!for rows
        edges[right + lane * ROWS + $ku + 1u] = vec2<i32>(h$k, e$k) / SCALE;
//!end
        if (lane == 0u) {
            edges[right].x = corner / SCALE;
        }
