// Tiles of strips: a task is a strip, which does one run of its columns in each wave. So a job has as many tasks as strips,
// whatever its columns, and the dispatches of all waves share them.

//!slot wave_items
@group(0) @binding(8) var<storage, read> waves: array<Wave>;

// The columns of a task's run in this wave: none before its first run and behind its last.
fn task_cols(place: u32) -> u32 {
    let task = tasks[place];
    // Wraps to a large number before the first run.
    let run = waves[0].number - task.first_wave;
    return select(0u, min(task.cols - run * task.run_cols, task.run_cols), run < task.runs);
}

//!slot tile_of_wave
    var have_columns = false;
    for (var pair = 0u; pair < PAIRS; pair++) {
        have_columns |= task_cols(first_task + pair) > 0u;
    }
    if (!have_columns) {
        return;
    }
    // The columns of the task become those of the run.
    task.cols = task_cols(first_task + thread / LANES);
    let own_run = select(0u, waves[0].number - task.first_wave, task.cols > 0u);
    let begins = own_run * task.run_cols;
    task.target_ += begins;
    task.counts_from = max(task.counts_from, begins) - begins;
    task.above += own_run % max(task.above_runs, 1u) * task.run_cols;
    task.below += own_run % max(task.below_runs, 1u) * task.run_cols;

//!slot leave_best
        let cell = vec3<i32>(chosen.x, chosen.y - i32(task.pad), chosen.z + i32(begins));
        // What was best in the runs before was left by other waves.
        if (own_run == 0u || better(cell, results[task.result].xyz)) {
            results[task.result] = vec4<i32>(cell, last);
        }
