// Levels of a workgroup: what enters the first lane of one, and what its last lane leaves for the next.

//!slot entering
        let entering = subgroupShuffle(run, step % LANES);
        if (lane == 0u) {
            up = entering;
        }

//!slot leaving
        // Columns in front of the target and behind it lie where no lane takes one.
        if (lane == LANES - 1u) {
            below[level][col % KEPT] = vec2<i32>(h$last, f);
        }
