// Steps of a tile that stores edges. Edge values outside the target must stay unchanged, so work is masked while some
// lane has no column. In between, unmasked steps are faster.

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
