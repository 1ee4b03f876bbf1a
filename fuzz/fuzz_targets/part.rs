#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| swalign_fuzz::part::run(data));
