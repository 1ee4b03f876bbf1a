// Chained strips: each waits for what the one above leaves, while both run.

//!slot handing
// What a strip leaves: its mark, and where that of its first column lies.
struct Handed {
    mark: u32,
    place: u32,
}
fn handed(strip: u32, first_col: u32) -> Handed {
    let slots = atomicLoad(&chain[2]);
    let place = CHAIN_HEAD + (strip % slots * atomicLoad(&chain[3]) + first_col) * 2u;
    return Handed(strip / slots % (MARKS - 1u) + 1u, place);
}
// Each word says for itself whether it is there: nothing orders one before the other.
fn passed_down(place: u32) -> vec2<u32> {
    return vec2<u32>(atomicLoad(&chain[place]), atomicLoad(&chain[place + 1u]));
}
fn is_there(passed: vec2<u32>, mark: u32) -> bool {
    return all((passed & vec2<u32>(MARKS - 1u)) == vec2<u32>(mark));
}
// Marks are smaller than what values are multiples of.
const MARKS = u32(SCALE);
fn unmarked(passed: vec2<u32>) -> vec2<i32> {
    return bitcast<vec2<i32>>(passed & vec2<u32>(~(MARKS - 1u)));
}
//!slot line
            // A vertical line lies on the right of this column.
            if (col == line_col) {
//!for rows
                edges[line_place + lane * ROWS + $ku + 1u] = vec2<i32>(h$k, e$k) / SCALE;
//!end
                if (lane == 0u) {
                    edges[line_place].x = corner / SCALE;
                }
            }
//!slot run
            // What enters from above in the next columns, one a lane.
            let mine = min(step + lane % COLUMNS, last_col);
            var there = subgroupAll(mine >= entering_columns || is_there(next_run, entering_from.mark));
            for (var asked = 0u; !there && !gave_up && asked < patience; asked++) {
                next_run = passed_down(entering_from.place + mine * 2u);
                there = subgroupAll(mine >= entering_columns || is_there(next_run, entering_from.mark));
            }
            gave_up |= !there;
            run = select(vec2<i32>(0, 0), unmarked(next_run), mine < entering_columns);
            next_run = passed_down(entering_from.place + min(step + COLUMNS + lane % COLUMNS, last_col) * 2u);
//!slot letters
// A word of the letters of a lane whose first column is `first`, negative in front of the target; none outside it.
fn letters_from(task: Task, first: i32) -> u32 {
    let begins = min(u32(max(first, 0)), task.cols);
    let there = target_letters(task, min(begins, task.cols - 1u));
    let before = u32(clamp(-first, 0, i32(LETTERS_PER_WORD)));
    let inside = min(task.cols - begins, LETTERS_PER_WORD);
    // Shifting by a whole word is undefined, so in two steps.
    let behind = select(0u, NO_LETTERS << (LETTER_BITS * inside % 32u), inside < LETTERS_PER_WORD);
    let cut = select(there, there & ~(~0u << (LETTER_BITS * inside % 32u)), inside < LETTERS_PER_WORD);
    let kept = (cut | behind) << (LETTER_BITS * before % 32u);
    let ahead = NO_LETTERS & ~(~0u << (LETTER_BITS * before % 32u));
    return select(kept | ahead, NO_LETTERS, before == LETTERS_PER_WORD);
}
//!slot blocks
    // As many steps in one go as letters are in a word. What is read from memory was asked for one block before.
    var next_letters = letters_from(task, -i32(lane));
    // Columns outside the target may do as they like where nobody is on that side, and before those that count only
    // where there are none. That all lanes are of one mind has to be seen, or each step takes a third longer.
//!if LINED
    let plain_from = 0u;
//!else
    let counting_from = select(counts_from + LANES, 0u, counts_from == 0u);
    let plain_from = subgroupMax(max(select(LANES, 0u, task.left == NOWHERE), counting_from));
    let plain_to = subgroupMin(select(task.cols, steps + COLUMNS - 1u, task.right == NOWHERE));
//!end
    for (; step < steps; ) {
//!if LINED
        let plain_to = subgroupMin(min(steps + COLUMNS - 1u, line_col));
//!end
        for (; step >= plain_from && step + COLUMNS <= plain_to; ) {
//!insert block
        }
        if (step < steps) {
//!with GUARDED
//!insert block
//!end
//!if LINED
            if (line_col != NOWHERE && step >= line_col + LANES) {
                line_col += side;
                line_place += lines_apart;
            }
//!end
        }
    }
//!slot block
        let these_letters = next_letters;
        next_letters = letters_from(task, i32(step + COLUMNS) - i32(lane));
        {
//!insert run
        }
//!insert block_begin
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
            var diagonal = corner;
            corner = up.x;
            f = up.y;
//!insert cells
//!if GUARDED
//!if LINED
//!insert line
//!end
            }
//!end
            leaving$c = vec2<i32>(h$last, f);
        }
//!end
//!insert block_end
        // Those in front of a strip's columns and behind are nobody's, or have long been read.
        if (lane == LANES - 1u && step + COLUMNS >= LANES) {
            let place = leaving_to.place + (step - lane) * 2u;
//!for columns
            atomicStore(&chain[place + 2u * $cu], bitcast<u32>(leaving$c.x) | leaving_to.mark);
            atomicStore(&chain[place + 2u * $cu + 1u], bitcast<u32>(leaving$c.y) | leaving_to.mark);
//!end
//!if LINED
            if (below != NOWHERE) {
//!for columns
                if (step + $cu - lane < task.cols) {
                    edges[below + step + $cu - lane] = leaving$c / SCALE;
                }
//!end
            }
//!end
        }
        step += COLUMNS;
