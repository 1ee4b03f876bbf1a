#!/usr/bin/env bash
# rustc for RUSTC_WRAPPER: compiles swalign itself with the instrumentation that libFuzzer needs, on stable Rust. All
# other crates are compiled without it, so the dependencies built for the tests are reused.
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
