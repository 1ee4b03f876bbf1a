//! Receipts: any bytes are one or none, and one that is read is written and read again as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::fs;
use swalign::writer::receipt;
use swalign_fuzz::folder;

fuzz_target!(|data: &[u8]| {
    let output = folder().join("out");
    fs::write(receipt::path(&output), data).expect("a file");
    let Ok(Some(read)) = receipt::read(&output) else { return };
    // A part may be none that a run can have.
    if read.task.part.number == 0 || read.task.part.number > read.task.part.of {
        return;
    }
    let again = folder().join("again");
    read.write(&again).expect("a receipt is written");
    assert_eq!(receipt::read(&again).expect("a file"), Some(read));
});
