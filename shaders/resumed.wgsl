// Resumed strips: a task is a strip, which goes on in each wave where it stopped in the one before. Its lanes then are at different
// columns, as they always are, so nothing is lost where waves meet.
//
// A strip goes LANES columns a turn, and TURNS turns a wave. It begins TURNS + 2 turns behind the one above: what it reads was left
// in an earlier wave, the run of columns behind its own too.

//!slot edge_items
// H and F below strips, in a ring of columns, and what is kept of strips that stop: all as multiples of SCALE.
@group(0) @binding(3) var<storage, read_write> edges: array<vec2<i32>>;

//!slot wave_items
@group(0) @binding(8) var<storage, read> waves: array<Wave>;
// H and F that the last lane leaves in the steps of a turn.
var<workgroup> left_below: array<vec2<i32>, LANES>;

//!slot tile_of_wave
    // One task a workgroup: that all lanes have the same has to be seen.
    task = tasks[first_task];
    let wave_begins = waves[0].number * TURNS;
    // Turns in which some lane has a column.
    let all_turns = (task.cols + 2u * LANES - 2u) / LANES;
    let first_turn = max(wave_begins, task.first_turn) - task.first_turn;
    let end_turn = min(max(wave_begins + TURNS, task.first_turn) - task.first_turn, all_turns);
    if (task.cols == 0u || first_turn >= end_turn) {
        return;
    }

//!slot left_edge
    var corner = 0;
//!for rows
    var h$k = 0;
    var e$k = 0;
//!end

//!slot upper_edge
    // What enters from above in the next run of columns, one a lane: a lane that read its own column would wait for memory in
    // every step.
    var next_run = vec2<i32>(0, 0);
    if (task.above != NOWHERE) {
        next_run = edges[task.above + (first_turn * LANES + lane) % task.ring];
    }

//!slot entering
        let entering = subgroupShuffle(run, step % LANES);
        if (lane == 0u) {
            up = entering;
        }

//!slot leaving
        if (lane == LANES - 1u) {
            left_below[step % LANES] = vec2<i32>(h$last, f);
        }

//!slot all_steps
    let kept = task.kept + lane;
    if (first_turn > 0u) {
//!for rows
        let kept$k = edges[kept + $ku * LANES];
        h$k = kept$k.x;
        e$k = kept$k.y;
//!end
        let kept_above = edges[kept + ROWS * LANES];
        corner = kept_above.x;
        f = kept_above.y;
        let kept_best = edges[kept + (ROWS + 1u) * LANES];
        letter = u32(kept_best.x);
        best = kept_best.y;
        let kept_place = edges[kept + (ROWS + 2u) * LANES];
        best_row = u32(kept_place.x);
        best_col = u32(kept_place.y);
    }
    step = first_turn * LANES;
    for (var turn = first_turn; turn < end_turn; turn++) {
        let mine = turn * LANES + lane;
        // Zeros enter the first strip, and behind the last column.
        let run = select(vec2<i32>(0, 0), next_run, mine < task.cols);
        if (task.above != NOWHERE) {
            next_run = edges[task.above + (mine + LANES) % task.ring];
        }
        let turn_ends = step + LANES;
        for (; step < turn_ends; ) {
//!for columns
//!insert step
//!end
        }
        workgroupBarrier();
        // The last lane was at the columns from here on; wraps to a large number before the first.
        let left = mine + 1u - LANES;
        if (task.below != NOWHERE && left < task.cols) {
            edges[task.below + left % task.ring] = left_below[lane];
        }
        workgroupBarrier();
    }
    if (end_turn < all_turns) {
//!for rows
        edges[kept + $ku * LANES] = vec2<i32>(h$k, e$k);
//!end
        edges[kept + ROWS * LANES] = vec2<i32>(corner, f);
        edges[kept + (ROWS + 1u) * LANES] = vec2<i32>(i32(letter), best);
        edges[kept + (ROWS + 2u) * LANES] = vec2<i32>(i32(best_row), i32(best_col));
        return;
    }

//!slot right_edge

//!slot leave_best
        leave_result(task, task.cols - 1u, chosen, last);
