// Lanes exchange values through workgroup memory, and each lane reads its own residues.

//!slot exchange_items
// Values that each thread published in even and odd steps, each one index after its thread.
var<workgroup> exchange: array<vec2<i32>, 2u * (THREADS + 1u)>;
//!for further
var<workgroup> exchange$p: array<i32, 2u * (THREADS + 1u)>;
//!end

//!slot thread_inputs
    @builtin(local_invocation_index) thread: u32,

//!slot thread

//!slot steps
    var steps = 0u;
    for (var pair = 0u; pair < PAIRS; pair++) {
        steps = max(steps, tasks[first_task + pair].cols);
    }
    steps += LANES - 1u;

//!slot inner
    var inner = steps;
    for (var pair = 0u; pair < PAIRS; pair++) {
        inner = min(inner, tasks[first_task + pair].cols);
    }

//!slot exchange_begin
    exchange[THREADS + 1u + thread + 1u] = vec2<i32>(0, 0);
//!for further
    exchange$p[THREADS + 1u + thread + 1u] = 0;
//!end
    workgroupBarrier();

//!slot letter_and_above
        let place = task.target_ + select(0u, col, inside);
        let loaded = (targets[place / LETTERS_PER_WORD] >> (place % LETTERS_PER_WORD * LETTER_BITS)) & LETTER_MASK;
        let letter = select(NO_TARGET, loaded, inside);
        let slot = (step & 1u) * (THREADS + 1u) + thread;
        var up = exchange[THREADS + 1u - (step & 1u) * (THREADS + 1u) + thread];
//!for further
        var up$p = exchange$p[THREADS + 1u - (step & 1u) * (THREADS + 1u) + thread];
//!end

//!slot row_above
        var diagonal = corner;
        corner = up.x;
        var f = up.y;
//!for further
        var f$p = up$p;
//!end

//!slot publish
        exchange[slot + 1u] = vec2<i32>(h$last, f);
//!for further
        exchange$p[slot + 1u] = f$p;
//!end

//!slot step_end
        workgroupBarrier();

//!slot compare_lanes
    finals[thread] = array<i32, 3>(chosen.x, chosen.y, chosen.z);
    workgroupBarrier();
    if (thread % LANES == 0u) {
        for (var other = 1u; other < LANES; other++) {
            if (better(final_of(thread + other), chosen)) {
                chosen = final_of(thread + other);
            }
        }
    }
