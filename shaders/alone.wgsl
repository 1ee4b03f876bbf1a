// A tile without neighbors: zeros enter, and no edge values are stored. In strips.wgsl, the strips of one query
// exchange edge values.

//!slot edge_items
//!if STRIPS
//!insert strip_items
//!end

//!slot left_edge
//!if FRAMED
    var corner = vec4<i32>(0);
//!else
    var corner = 0;
//!end
//!for rows
    var h$k = 0;
    var e$k = 0;
//!for further
    var e$p_$k = 0;
//!end
//!end

//!slot upper_edge
//!if STRIPS
//!insert strip_above
//!end

//!slot entering
//!if STRIPS
//!insert strip_entering
//!else
        if (lane == 0u) {
//!if FRAMED
            up = vec4<i32>(0);
            up_f = vec3<i32>(0);
//!else
            up = vec2<i32>(0, 0);
//!end
//!for further
            up$p = 0;
//!end
        }
//!end

//!slot leaving
//!if STRIPS
//!insert strip_leaving
//!end

//!slot all_steps
    for (; step < steps; ) {
//!for columns
//!insert step
//!end
//!insert turn_end
    }

//!slot right_edge
