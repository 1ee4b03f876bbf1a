// Chained strips whose lanes exchange values inside a subgroup and process a block of as many columns as a word has
// residues. Each block issues the loads of the next block.

//!slot chain_items
// Returns one word of the lane's target residues from column `first` on, which is negative before the target. Columns
// outside the target hold no residue.
fn letters_from(task: Task, first: i32) -> u32 {
    let begins = min(u32(max(first, 0)), task.cols);
    let there = target_letters(task, min(begins, task.cols - 1u));
    let before = u32(clamp(-first, 0, i32(LETTERS_PER_WORD)));
    let inside = min(task.cols - begins, LETTERS_PER_WORD);
    // Shifting by the word size is undefined, hence two steps.
    let behind = select(0u, NO_LETTERS << (LETTER_BITS * inside % 32u), inside < LETTERS_PER_WORD);
    let cut = select(there, there & ~(~0u << (LETTER_BITS * inside % 32u)), inside < LETTERS_PER_WORD);
    let kept = (cut | behind) << (LETTER_BITS * before % 32u);
    let ahead = NO_LETTERS & ~(~0u << (LETTER_BITS * before % 32u));
    return select(kept | ahead, NO_LETTERS, before == LETTERS_PER_WORD);
}

//!slot first_run
    // The edge of one run of columns, one column in each lane, and that of the next run.
    var next_run = passed_down(entering_from.place + min(lane % COLUMNS, last_col) * 2u);
    var run = vec2<i32>(0, 0);

//!slot all_steps
    var next_letters = letters_from(task, -i32(lane));
    // Unguarded blocks may cover columns outside the target if no tile adjoins that side, but not columns before those
    // that count. The compiler must see that all lanes take the same branch, or each step takes a third longer.
//!insert plain_from
    for (; step < steps; ) {
//!insert plain_to
        for (; step >= plain_from && step + COLUMNS <= plain_to; ) {
//!insert block
        }
        if (step < steps) {
//!with GUARDED
//!insert block
//!end
//!insert pass_line
        }
    }

//!slot block
        let these_letters = next_letters;
        next_letters = letters_from(task, i32(step + COLUMNS) - i32(lane));
        {
//!insert run
        }
        // Only the best cell of a block is compared with the best so far. The low bits of the score hold its column in
        // the block and its row.
        var top = 0;
//!for columns
        var leaving$c = vec2<i32>(0, 0);
        {
            let col = step + $cu - lane;
            let key = $c * i32(ROWS);
            let letter = (these_letters >> ($cu * LETTER_BITS)) & LETTER_MASK;
            let passed = vec2<i32>(subgroupShuffleUp(h$last, 1u), subgroupShuffleUp(f, 1u));
            let up = select(passed, subgroupShuffle(run, $cu), lane == 0u);
//!if GUARDED
            if (col < task.cols) {
//!end
//!insert row_above
//!insert cells
//!if GUARDED
//!insert leave_line
            }
//!end
            leaving$c = vec2<i32>(h$last, f);
        }
//!end
        let is_best = top > (best | (SCALE - 1));
        best = select(best, top, is_best);
        best_col = select(best_col, step - lane, is_best);
        // Columns before and after those of the strip are never read, or were read long ago.
        if (lane == LANES - 1u && step + COLUMNS >= LANES) {
            let place = leaving_to.place + (step - lane) * 2u;
//!for columns
            atomicStore(&chain[place + 2u * $cu], bitcast<u32>(leaving$c.x) | leaving_to.mark);
            atomicStore(&chain[place + 2u * $cu + 1u], bitcast<u32>(leaving$c.y) | leaving_to.mark);
//!end
//!insert leave_below
        }
        step += COLUMNS;

//!slot run
            // The values that enter from above in the next columns, one column in each lane.
            let mine = min(step + lane % COLUMNS, last_col);
            var there = subgroupAll(mine >= entering_columns || is_there(next_run, entering_from.mark));
            for (var asked = 0u; !there && !gave_up && asked < patience; asked++) {
                next_run = passed_down(entering_from.place + mine * 2u);
                there = subgroupAll(mine >= entering_columns || is_there(next_run, entering_from.mark));
            }
            gave_up |= !there;
            run = select(vec2<i32>(0, 0), unmarked(next_run), mine < entering_columns);
            next_run = passed_down(entering_from.place + min(step + COLUMNS + lane % COLUMNS, last_col) * 2u);

//!slot best_begin
//!if GUARDED
        let top_before = top;
//!end

//!slot cell
        top = max(top, t$k + (SCALE - 1 - key - $k));

//!slot best_end
//!if GUARDED
        top = select(top_before, top, col >= counts_from);
//!end
