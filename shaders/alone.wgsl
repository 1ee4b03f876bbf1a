// A tile that meets no other: zeros enter, and nothing leaves.

//!slot edge_items

//!slot left_edge
    var corner = 0;
//!for rows
    var h$k = 0;
    var e$k = 0;
//!end

//!slot upper_edge

//!slot entering
        if (lane == 0u) {
            up = vec2<i32>(0, 0);
        }

//!slot leaving

//!slot all_steps
    for (; step < steps; ) {
//!for columns
//!insert step
//!end
//!insert turn_end
    }

//!slot right_edge
