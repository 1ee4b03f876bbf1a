// The steps of a tile that leaves edges. What lies outside the target must stay as it was found, so work is masked while
// some lane has no column; in between it is not, which is faster.

//!slot all_steps
//!insert inner
    for (; step < min(LANES - 1u, steps); ) {
//!with GUARDED
//!insert step
//!end
    }
    for (; step + COLUMNS <= inner; ) {
//!for columns
//!insert step
//!end
    }
    for (; step < steps; ) {
//!with GUARDED
//!insert step
//!end
    }
