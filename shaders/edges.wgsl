// Edge values, which tiles that meet hand on in memory.

//!slot edge_values
// H and F, or H and E, where tiles meet: a tile reads what enters and leaves what goes out, most often
// in the same place.
@group(0) @binding(3) var<storage, read_write> edges: array<vec2<i32>>;

//!slot leave_right
//!for rows
        edges[right + lane * ROWS + $ku + 1u] = vec2<i32>(h$k, e$k) / SCALE;
//!end
        if (lane == 0u) {
            edges[right].x = corner / SCALE;
        }
