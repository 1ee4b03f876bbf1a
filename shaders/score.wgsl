// Score: the best cell of each task, or of each stretch of its columns. Within a lane a later column must be strictly
// better, so the first of equal cells stays. The lanes are compared at the end of the task and at the end of each
// stretch.

//!slot kept_items
// For each task, or each stretch of it: score, query row, and column of its best cell, counted from the first row and
// column of the tile. If there is no such cell, the score is 0 in local mode and NONE in the other modes. The last word is 1 if the strip above did not answer in
// time, which makes the result invalid.
@group(0) @binding($output) var<storage, read_write> results: array<vec4<i32>>;
//!if FINALS
// Score, row, and column of each lane. (A vector would need one word more, and a profile leaves no room for it.)
var<workgroup> finals: array<array<i32, 3>, THREADS>;
fn final_of(thread: u32) -> vec3<i32> {
    return vec3<i32>(finals[thread][0], finals[thread][1], finals[thread][2]);
}
//!end

// Compares (score, tile row, column) and returns whether `a` is better than `b`.
fn better(a: vec3<i32>, b: vec3<i32>) -> bool {
    let earlier = a.z < b.z || (a.z == b.z && a.y < b.y);
    return a.x > b.x || (a.x == b.x && earlier);
}

// Returns the best cell of a task. All lanes of the task call this with their own best cell.
fn first_of_lanes(lane_best: i32, lane_row: u32, lane_col: u32, thread: u32) -> vec3<i32> {
    var best = lane_best;
    var row = lane_row;
    var col = lane_col;
//!if KEYED
    let key = u32(SCALE - 1 - best % SCALE);
    row = thread % LANES * ROWS + key % ROWS;
    col += key / ROWS;
    best /= SCALE;
//!end
    var chosen = vec3<i32>(best, i32(row), i32(col));
//!insert compare_lanes
    return chosen;
}

// Stores the best cell of a task, or of the stretch that contains column `col`.
fn leave_result(task: Task, col: u32, chosen: vec3<i32>, last: i32) {
    var place = task.result;
//!if STRETCHED
    if (task.in_stretches != 0u) {
        place += col / STRETCH - task.counts_from / STRETCH;
    }
//!end
    results[place] = vec4<i32>(chosen.x, chosen.y - i32(task.pad), chosen.z, last);
}

//!slot places
    let right = task.right;
    let below = task.below;

//!slot state
//!if LINED
    // Nothing reads the score.
    let counts_from = 0u;
//!else
    let counts_from = task.counts_from;
//!end
//!if STRETCHED
    // If the task has a single result, a stretch begins only at the first column.
    let in_stretch = select(NOWHERE, STRETCH - 1u, task.in_stretches != 0u);
//!end
    var best = $none;
    var best_row = 0u;
    var best_col = 0u;

//!slot column
//!if STRETCHED
        // The best cell of the previous stretch stays in memory until all lanes have left it, because no registers are
        // free.
        if ((col & in_stretch) == 0u && col < task.cols) {
            finals[thread] = array<i32, 3>(best, i32(best_row), i32(best_col));
            best = $none;
        }
//!end
//!insert best_begin

//!slot column_end
//!insert best_end

//!slot turn_end
//!if STRETCHED
        if (step % STRETCH == LANES) {
            // All lanes have left the stretch.
            let ended = final_of(thread);
            let chosen = first_of_lanes(ended.x, u32(ended.y), u32(ended.z), thread);
            let border = step - LANES;
            if (lane == 0u && task.in_stretches != 0u && task.counts_from < border && border < task.cols) {
                leave_result(task, border - 1u, chosen, 0);
            }
            // Without this barrier, lanes could begin the next comparison too early.
//!insert step_end
        }
//!end

//!slot finish
//!if TO_EITHER_END
//!insert column_ends
//!end
    let chosen = first_of_lanes(best, best_row, best_col, thread);
    if (lane == 0u && task.cols > 0u) {
//!if CHAINED
        // Only lane 0 waits. Some drivers end loops that run too long, which shows as missing steps.
        let last = i32(gave_up || step < task.cols + LANES - 1u);
//!else
        let last = 0;
//!end
        leave_result(task, task.cols - 1u, chosen, last);
    }
