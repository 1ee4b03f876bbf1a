#!/usr/bin/env bash
# Builds the web page and the npm package from web/ into target/web, and tests them: scripts/web.sh [release|build|test].
#
# target/web/package is the package, and target/web/page the page, which is static files. `release` builds them for use.
# Without an argument, they are built as fast as possible and tested; `build` and `test` are these two steps. The tests
# compare the output of both with the command (SWALIGN, by default the debug build), in Node.js and in Chromium, on the CPU
# and on WebGPU by SwiftShader. Exit code 77 if something cannot be installed: then nothing was tested.
set -euo pipefail
cd "$(dirname "$0")/.."

target_dir=$(realpath -m "${CARGO_TARGET_DIR:-target}")
out=$target_dir/web
export CARGO_TARGET_DIR=$target_dir
. scripts/common.sh

# Node.js and npm, and wasm-opt. Versions are pinned, so that a failure has its cause in this repository.
binaryen=132.0.0
tools() {
    local packages=()
    has node || packages+=(nodejs)
    has npm || packages+=(npm)
    install_packages "${packages[@]}" || exit 77
    [ -x "$out/tools/node_modules/.bin/wasm-opt" ] && [ "$(cat "$out/tools/stamp" 2>/dev/null)" = "$binaryen" ] && return
    mkdir -p "$out/tools"
    npm install --silent --no-fund --no-audit --prefix "$out/tools" "binaryen@$binaryen" || exit 77
    echo "$binaryen" >"$out/tools/stamp"
}

# Builds with a profile of web/Cargo.toml, and with these options of wasm-opt.
build() {
    local profile=$1 built=$target_dir/wasm32-unknown-unknown/$2
    shift 2
    say "compiling the engine of the page"
    local crate=(--locked --manifest-path web/Cargo.toml)
    RUSTFLAGS="-C target-feature=+simd128" scripts/cross.sh wasm32-unknown-unknown \
        cargo build "${crate[@]}" --profile "$profile" --package swalign-web --target wasm32-unknown-unknown
    cargo build "${crate[@]}" --package bindgen
    rm -rf "$out/package" "$out/page" "$out/glue"
    mkdir -p "$out/package" "$out/page/examples"
    "$target_dir/debug/bindgen" "$built/swalign_web.wasm" "$out/glue" swalign
    say "making it small"
    "$out/tools/node_modules/.bin/wasm-opt" "$@" --strip-debug --strip-producers --enable-simd --enable-bulk-memory --enable-nontrapping-float-to-int \
        --enable-sign-ext --enable-mutable-globals --enable-reference-types --enable-multivalue \
        "$out/glue/swalign_bg.wasm" -o "$out/package/swalign_bg.wasm"
    cp "$out/glue/swalign.js" web/package/* LICENSE "$out/package"
    cp "$out"/package/{engine,host,swalign,worker}.js "$out/package/swalign_bg.wasm" web/page/* "$out/page"
    cp data/sars2.fa data/artic_v3_primers.fa data/ont_sars2.fq.gz "$out/page/examples"
    local bytes
    bytes=$(gzip -9 -c "$out/package/swalign_bg.wasm" | wc -c)
    say "target/web: the engine has $(stat --format=%s "$out/package/swalign_bg.wasm") bytes, $bytes compressed"
    # The package that people load. Fast builds for tests are larger.
    [ "$profile" != release ] || [ "$bytes" -lt 3000000 ] || { loud "the engine has 3 MB or more"; exit 1; }
}

check() {
    SWALIGN=$(realpath "${SWALIGN:-$target_dir/debug/swalign}")
    export SWALIGN SWALIGN_WEB=$out
    say "tests of the npm package in Node.js"
    node --test web/tests/package.test.mjs
    has chromium || install_packages chromium || exit 77
    say "tests of the page in Chromium"
    node --test web/tests/page.test.mjs
}

tools
case "${1-}" in
    release) build release release -O3 ;;
    build) build dev debug -O1 ;;
    test) check ;;
    "")
        build dev debug -O1
        check
        ;;
    *) echo "usage: scripts/web.sh [release|build|test]" >&2 && exit 2 ;;
esac
