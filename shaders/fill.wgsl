// Fill: the directions of each task's cells, for the steps in which its lanes cross the band. src/engine/directions.rs
// describes their bits and their layout.

//!slot kept_items
@group(0) @binding(5) var<storage, read_write> directions: array<u32>;

//!slot places
    let below = task.above;
    let right = task.left;

//!slot state
    let last_first = i32(task.cols + LANES - 1u - task.stored);
    // If all steps are kept for the host, the words of a step are contiguous; otherwise the words of a lane are.
    let whole = task.stored == task.cols + LANES - 1u && task.by_lane == 0u;
    let lane_stride = select(task.stored, 1u, whole) * WORDS;
    let step_stride = select(1u, LANES, whole) * WORDS;
    let first_word = task.directions + lane * lane_stride;
    let first_step = u32(clamp(task.band_first + i32(lane * (ROWS + 1u)), 0, last_first));

//!slot column
//!for direction_words
        var bits$word = 0u;
//!end

//!slot cell
//!if TWO_PIECES
        let insertion$k = select(INSERTION | SECOND_PIECE, INSERTION, t$k == f);
        let deletion$k = select(select(insertion$k, DELETION | SECOND_PIECE, t$k == e2_$k), DELETION, t$k == e$k);
        let gaps2_$k = select(0u, EXTEND_SECOND_DELETION, e2_extended$k > opened2_$k) | select(0u, EXTEND_SECOND_INSERTION, f2_extended$k > opened2_$k);
//!else
        let deletion$k = select(INSERTION, DELETION, t$k == e$k);
        let gaps2_$k = 0u;
//!end
//!if LOCAL
        let source$k = select(select(deletion$k, DIAGONAL, t$k == d$k), STOP, t$k == 0);
//!else
        let source$k = select(deletion$k, DIAGONAL, t$k == d$k);
//!end
        let gaps$k = select(0u, EXTEND_DELETION, e_extended$k > opened$k) | select(0u, EXTEND_INSERTION, f_extended$k > opened$k);
        bits$word |= (source$k | gaps$k | gaps2_$k) << (CELL_BITS * ($ku % CELLS_PER_WORD));

//!slot column_end
        let kept = step - first_step;
        if (kept < task.stored) {
            let word = first_word + kept * step_stride;
//!for direction_words
            directions[word + $wordu] = bits$word;
//!end
        }

//!slot turn_end

//!slot finish
