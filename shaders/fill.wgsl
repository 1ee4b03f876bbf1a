// Fill: the directions of each task's cells, for the steps in which its lanes cross the band. src/engine/directions.rs
// describes their bits and their layout. The words of a lane are contiguous. The source of H is chosen from the last
// choice to the first.

//!slot kept_items
@group(0) @binding($output) var<storage, read_write> directions: array<u32>;

//!slot places
    let below = task.above;
    let right = task.left;

//!slot state
    let last_first = i32(task.cols + LANES - 1u - task.stored);
    let first_word = task.directions + lane * task.stored * WORDS;
    let first_step = u32(clamp(task.band_first + i32(lane * (ROWS + 1u)), 0, last_first));

//!slot column
//!for direction_words
        var bits$word = 0u;
//!end

//!slot cell
        var source$k = INSERTION;
//!for further_descending
        source$k = select(source$k, INSERTION | PIECE$p, t$k == f$p);
//!end
//!if SEVERAL_PIECES
        source$k = select(source$k, INSERTION, t$k == f);
//!end
//!for further_descending
        source$k = select(source$k, DELETION | PIECE$p, t$k == e$p_$k);
//!end
        source$k = select(source$k, DELETION, t$k == e$k);
        source$k = select(source$k, DIAGONAL, t$k == d$k);
//!if LOCAL
        source$k = select(source$k, STOP, t$k == 0);
//!end
        var gaps$k = select(0u, EXTEND_DELETION, e_extended$k > opened$k) | select(0u, EXTEND_INSERTION, f_extended$k > opened$k);
//!for further
        gaps$k |= select(0u, EXTEND_DELETION$p, e$p_extended$k > opened$p_$k) | select(0u, EXTEND_INSERTION$p, f$p_extended$k > opened$p_$k);
//!end
        bits$word |= (source$k | gaps$k) << (CELL_BITS * ($ku % CELLS_PER_WORD));

//!slot column_end
        let kept = step - first_step;
        if (kept < task.stored) {
            let word = first_word + kept * WORDS;
//!for direction_words
            directions[word + $wordu] = bits$word;
//!end
        }

//!slot turn_end

//!slot finish
