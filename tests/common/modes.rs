//! The modes that tests run through.

use swalign::terms::scoring::AlignmentMode;

/// All modes but local.
pub const MODES: [AlignmentMode; AlignmentMode::ALL.len() - 1] = {
    let mut modes = [AlignmentMode::Local; AlignmentMode::ALL.len() - 1];
    let mut number = 0;
    while number < modes.len() {
        modes[number] = AlignmentMode::ALL[number + 1].0;
        number += 1;
    }
    modes
};
