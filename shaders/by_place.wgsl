// The workgroup's index selects its tasks.

//!slot first_task
    let first_task = (group.y * grid.x + group.x) * PAIRS;
    if (first_task >= arrayLength(&tasks)) {
        return;
    }

//!slot owner
    let owner = tasks[first_task];
