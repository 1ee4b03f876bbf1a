// Strips of one query, one after another. The last row of a strip stays in memory, for each column, until the next
// strip reads it. All strips use the same positions: the first lane has read a column before the last lane overwrites
// it.

//!slot strip_items
// H and F below a strip, for each column of the task's targets.
@group(0) @binding($edges) var<storage, read_write> edges: array<vec2<i32>>;

//!slot strips
    let edge = place.before - task.before;
    let last_col = max(task.cols, 1u) - 1u;
    for (var strip = 0u; strip < task.strips; strip++) {
//!insert strip
        // Number of tile rows before the first residue: negative from the second strip on.
        task.pad -= LANES * ROWS;
        storageBarrier();
        workgroupBarrier();
    }

//!slot strip_above
    // The edge of a run of columns, one in each lane, and of the next run. If each lane read its own column, it would
    // wait for memory in every step. Zeros enter above the first strip.
    var next_run = vec2<i32>(0, 0);
    if (strip > 0u) {
        next_run = edges[edge + min(lane, last_col)];
    }
    var run = next_run;

//!slot strip_entering
        if (step % LANES == 0u) {
            run = next_run;
            if (strip > 0u) {
                next_run = edges[edge + min(step + LANES + lane, last_col)];
            }
        }
        let entering = subgroupShuffle(run, invocation - lane + step % LANES);
        if (lane == 0u) {
            up = entering;
        }

//!slot strip_leaving
        if (lane == LANES - 1u && inside && strip + 1u < task.strips) {
            edges[edge + col] = vec2<i32>(h$last, f);
        }
