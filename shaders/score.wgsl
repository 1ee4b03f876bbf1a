// Score: the best cell of each task. Within a lane a later column must be strictly better, so the
// first of equals stays; the lanes are compared at the end.

//!slot bindings
// For each task: score, tile row, column of its best cell; score 0 where there is none.
@group(0) @binding(5) var<storage, read_write> results: array<vec4<i32>>;
var<workgroup> finals: array<vec3<i32>, THREADS>;
//!slot state
    var best = 0;
    var best_row = 0u;
    var best_col = 0u;
//!slot column
        var top = 0;
//!slot cell
//!if PACKED
        // The row in the low bits, the first of equals largest: no search for it later.
        top = max(top, t$k * ROW_KEYS + (ROW_KEYS - 1 - $k));
//!else
        top = max(top, t$k);
//!end
//!slot column_end
//!if PACKED
        if (top > (best | (ROW_KEYS - 1)) && col >= task.own) {
            best = top;
            best_col = col;
        }
//!else
        if (top > best && col >= task.own) {
            best = top;
            best_col = col;
//!for k descending
            best_row = select(best_row, lane * ROWS + $ku, h$k == top);
//!end
        }
//!end
//!slot finish
//!if PACKED
    best_row = lane * ROWS + u32(ROW_KEYS - 1 - best % ROW_KEYS);
    best /= ROW_KEYS;
//!end
    finals[thread] = vec3<i32>(best, i32(best_row), i32(best_col));
    workgroupBarrier();
    if (lane == 0u) {
        var chosen = finals[thread];
        for (var other = 1u; other < LANES; other++) {
            let final_ = finals[thread + other];
            let earlier = final_.z < chosen.z || (final_.z == chosen.z && final_.y < chosen.y);
            if (final_.x > chosen.x || (final_.x == chosen.x && earlier)) {
                chosen = final_;
            }
        }
        results[task.result] = vec4<i32>(chosen, 0);
    }
