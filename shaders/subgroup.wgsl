// Lanes exchange values inside their subgroup, and target residues move along with them.

//!slot exchange_items
// Returns one word of target residues from column `col` on, the first in the lowest bits. Columns after the target hold
// arbitrary values; the buffer always has one word more than the targets occupy.
fn target_letters(task: Task, col: u32) -> u32 {
    let place = task.target_ + col;
    let shift = place % LETTERS_PER_WORD * LETTER_BITS;
    let first = targets[place / LETTERS_PER_WORD] >> shift;
    // Shifting by the word size is undefined, hence two steps.
    let second = (targets[place / LETTERS_PER_WORD + 1u] << (LETTER_BITS * (LETTERS_PER_WORD - 1u) - shift)) << LETTER_BITS;
    return first | second;
}

//!slot thread_inputs
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_size) subgroup_size: u32,
    @builtin(subgroup_invocation_id) invocation: u32,

//!slot thread
    let thread = subgroup * subgroup_size + invocation;

//!slot steps
    let steps = subgroupMax(task.cols) + LANES - 1u;

//!slot inner
    let inner = subgroupMin(task.cols);

//!slot exchange_begin
    // F below the lane's rows, the residue of its column, and the residues to come.
//!if FRAMED
    var f = vec3<i32>(0);
//!else
    var f = 0;
//!end
//!for further
    var f$p = 0;
//!end
    var letter = NO_TARGET;
    var letters = 0u;

//!slot letter_and_above
        if (step % LETTERS_PER_WORD == 0u && step < task.cols) {
            letters = target_letters(task, step);
        }
        let fresh = select(NO_TARGET, letters & LETTER_MASK, step < task.cols);
        letters >>= LETTER_BITS;
        let passed = subgroupShuffleUp(letter, 1u);
        letter = select(passed, fresh, lane == 0u);
//!if FRAMED
        var up = subgroupShuffleUp(vec4<i32>(h$last, h$second, h$third, h$fourth), 1u);
        var up_f = subgroupShuffleUp(f, 1u);
//!else
        var up = vec2<i32>(subgroupShuffleUp(h$last, 1u), subgroupShuffleUp(f, 1u));
//!end
//!for further
        var up$p = subgroupShuffleUp(f$p, 1u);
//!end

//!slot row_above
//!if FRAMED
        var before = corner;
        corner = up;
        f = up_f;
//!else
        var diagonal = corner;
        corner = up.x;
        f = up.y;
//!end
//!for further
        f$p = up$p;
//!end

//!slot publish

//!slot step_end

//!slot compare_lanes
    for (var apart = 1u; apart < LANES; apart *= 2u) {
        let other = subgroupShuffleXor(chosen, apart);
        if (better(other, chosen)) {
            chosen = other;
        }
    }
