// Strips of one query, one after another. The last row of a strip stays in memory, for each column, until the next
// strip reads it. All strips use the same positions: the first lane has read a column before the last lane overwrites
// it.

//!slot strip_items
//!if FRAMED
// H of the last four rows of a strip and F of the next three, for each column of the task's targets.
@group(0) @binding($edges) var<storage, read_write> edges: array<array<vec4<i32>, 2>>;
//!else
// H and F below a strip, for each column of the task's targets.
@group(0) @binding($edges) var<storage, read_write> edges: array<vec2<i32>>;
//!end

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
//!if FRAMED
    var next_run = array<vec4<i32>, 2>();
//!else
    var next_run = vec2<i32>(0, 0);
//!end
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
        let source = invocation - lane + step % LANES;
//!if FRAMED
        let entering = array(subgroupShuffle(run[0], source), subgroupShuffle(run[1], source));
        if (lane == 0u) {
            up = entering[0];
            up_f = entering[1].xyz;
        }
//!else
        let entering = subgroupShuffle(run, source);
        if (lane == 0u) {
            up = entering;
        }
//!end

//!slot strip_leaving
        if (lane == LANES - 1u && inside && strip + 1u < task.strips) {
//!if FRAMED
            edges[edge + col] = array(vec4<i32>(h$last, h$second, h$third, h$fourth), vec4<i32>(f, 0));
//!else
            edges[edge + col] = vec2<i32>(h$last, f);
//!end
        }
