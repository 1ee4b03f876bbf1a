#!/usr/bin/env bash
# rustc for RUSTC_WRAPPER: what libFuzzer needs to see of swalign's own code is compiled into it, on stable Rust. All
# other crates are compiled as ever, so that what the tests have built serves here too.
rustc=$1
shift
case " $* " in
*" --crate-name swalign "*)
    exec "$rustc" "$@" -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
        -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
        -Cllvm-args=-sanitizer-coverage-trace-compares
    ;;
*) exec "$rustc" "$@" ;;
esac
