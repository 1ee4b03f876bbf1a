#!/usr/bin/env bash
# Installs the requirements of the tests and runs every check: format, lints, dependencies, documentation, doc tests,
# all tests, two minutes of fuzzing whole commands, the Python package, the web page, and batch jobs on a small Slurm. Prints the seconds
# of each step at the end. Steps that leave a core idle run beside others; their output comes when they are waited for.
#
# scripts/test.sh --long also runs the checks for a release: rows of benchmarks, 10 seconds of each fuzz target, whether the
# fuzzer of commands notices faults (without --long only if its folder changed in the last commit), types for web pages,
# macOS and Windows, and lavapipe with subgroups of 4 and 16. Tests that draw random cases then take all of them.
#
# Needs Rust and a network. On Debian or Ubuntu, as root or with sudo, other missing programs are installed: a software
# Vulkan driver (lavapipe) for the GPU tests, samtools, pysam and MultiQC in target/test-venv, Chromium for the page of
# --report, mkdocs in target/site-venv, the package's peers in target/python-venv, and Slurm. If something cannot be
# installed, the script prints a warning and reports the tests that need it as skipped, never as passed.
#
# SWALIGN_TEST_GPU=NAME runs the GPU tests on the adapter with this name instead of on lavapipe. NAME/PROFILE reduces it
# to the features of other adapters, as in SWALIGN_TEST_GPU=llvmpipe/webgpu (src/gpu/profile.rs).
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1-}" in
    "") long=no ;;
    # Tests then take all cases, and not a sample of them.
    --long) long=yes && export SWALIGN_ALL_CASES=yes ;;
    *)
        echo "usage: scripts/test.sh [--long]" >&2
        exit 2
        ;;
esac

. scripts/common.sh
venv=target/test-venv
# Versions are pinned, so that a failure has its cause in this repository.
readers=(pysam==0.24.1 multiqc==1.35)

# Prints the next step, with the seconds since the start.
steps=() begun=()
say() {
    steps+=("$*") begun+=("$SECONDS")
    printf '\n=== [%s s] %s\n' "$SECONDS" "$*" >&2
}
# Prints the seconds of each step.
table() {
    local step end
    begun+=("$SECONDS")
    printf '\nseconds  step\n' >&2
    for step in "${!steps[@]}"; do
        end=${begun[$((step + 1))]}
        printf '%7s  %s\n' $((end - begun[step])) "${steps[$step]}" >&2
    done
    for step in "$logs"/*.seconds; do
        [ ! -e "$step" ] || printf '%7s  (%s, beside other steps)\n' "$(cat "$step")" "$(basename "$step" .seconds)" >&2
    done
    printf '%7s  in all\n' "$SECONDS" >&2
}

# Starts a command beside the next steps, in a process group of its own. It must not ask for a password.
logs=$(mktemp -d)
beside() {
    local name=$1
    shift
    set -m
    {
        status=0 start=$SECONDS
        ("$@") || status=$?
        echo $((SECONDS - start)) >"$logs/$name.seconds"
        exit $status
    } >"$logs/$name" 2>&1 </dev/null &
    set +m
    echo $! >"$logs/$name.pid"
}
# Waits for this command, prints its output, and returns its exit code.
wait_for() {
    local name=$1 status=0
    wait "$(cat "$logs/$name.pid")" || status=$?
    rm "$logs/$name.pid"
    cat "$logs/$name" >&2
    return $status
}
# Ends the commands that still run, because another step failed.
finish() {
    local file
    for file in "$logs"/*.pid; do
        [ ! -e "$file" ] || kill -- "-$(cat "$file")" 2>/dev/null || true
    done
    table
    rm -rf "$XDG_RUNTIME_DIR" "$logs"
}

# Prints the file that names lavapipe to the Vulkan loader, preferably that of this machine's architecture.
lavapipe() {
    local file
    for file in /usr/share/vulkan/icd.d/lvp_icd."$(uname -m)".json /usr/share/vulkan/icd.d/lvp_icd*.json; do
        if [ -e "$file" ]; then
            echo "$file"
            return
        fi
    done
}
loader() { PATH=$PATH:/usr/sbin:/sbin ldconfig -p 2>/dev/null | grep 'libvulkan\.so\.1' >/dev/null; }

packages=()
if [ -z "${SWALIGN_TEST_GPU-}" ]; then
    [ -n "$(lavapipe)" ] || packages+=(mesa-vulkan-drivers)
    loader || packages+=(libvulkan1)
fi
# libFuzzer needs g++.
has g++ || packages+=(g++)
has cc || packages+=(gcc libc6-dev)
has samtools || packages+=(samtools)
has chromium || packages+=(chromium)
[ -x "$venv/bin/python" ] || can_make_venv || packages+=(python3 python3-venv)
install_packages "${packages[@]}" || true

# The driver of the GPU tests.
XDG_RUNTIME_DIR=$(mktemp -d)
trap finish EXIT
chmod 700 "$XDG_RUNTIME_DIR"
export XDG_RUNTIME_DIR
gpu=yes
if [ -z "${SWALIGN_TEST_GPU-}" ]; then
    icd=$(lavapipe)
    if [ -n "$icd" ] && loader; then
        export VK_DRIVER_FILES=$icd VK_ICD_FILENAMES=$icd WGPU_BACKEND=vulkan
    else
        gpu=no
    fi
fi

# Packages that later steps need are installed while others compile.
beside "tools that read the output" make_venv "$venv" "${readers[@]}"
beside "the documentation site" scripts/site.sh
beside "packages of the Python tests" scripts/python.sh install
unless_missing "could not install Slurm" scripts/cluster_test.sh install

for component in rustfmt clippy; do
    cargo "${component/rust/}" --version >/dev/null 2>&1 || rustup component add "$component"
done

say "cargo fmt --check"
cargo fmt --check
cargo fmt --check --manifest-path python/Cargo.toml
cargo fmt --check --manifest-path web/Cargo.toml --all
say "pictures, tables and lists of docs/"
scripts/benchmarks/run plots --check
scripts/messages.py --check
scripts/stubs.py --check
scripts/architecture.py --check
say "wording of the pages"
scripts/prose.py
say "cargo clippy"
cargo clippy --locked --all-targets -- -D warnings
say "the documentation site"
unless_missing "no Python with pip here: the documentation site is NOT BUILT" wait_for "the documentation site"
say "cargo clippy, the library by itself"
cargo clippy --locked --lib --no-default-features -- -D warnings
cargo clippy --locked --lib --no-default-features --features gpu -- -D warnings
say "cargo doc"
RUSTDOCFLAGS="-D warnings --cfg engine_room" cargo doc --locked --no-deps --document-private-items --lib
say "the library's public items"
RUSTDOCFLAGS="-D warnings" scripts/public_api.py
say "no dependency asks for a later Rust than Cargo.toml"
scripts/third_party.py versions
say "licences, duplicates and sources of dependencies"
if command -v cargo-deny >/dev/null; then
    cargo fetch --locked
    cargo deny --locked check licenses bans sources
    timeout 60 cargo deny check advisories 2>/dev/null || loud "advisories on dependencies are NOT CHECKED: their database can't be had, \
or one is known: cargo deny check advisories"
else
    loud "no cargo-deny: licences and duplicates of dependencies are NOT CHECKED (cargo install cargo-deny)"
fi
say "the crate, as it is published"
cargo package --locked --allow-dirty --no-verify
[ "$(stat --format=%s target/package/swalign-*.crate | sort -n | tail -n 1)" -lt 2000000 ] || { loud "the crate has 2 MB or more"; exit 1; }
if [ $long = yes ]; then
    say "the library in a page, and the command for macOS and Windows: types"
    # Compiled without optimization, because none of it runs.
    quick=(--locked --target-dir target/types --config profile.dev.debug=false)
    for line in "wasm32-unknown-unknown --lib --no-default-features --features gpu" "aarch64-apple-darwin --lib --bins" \
        "x86_64-pc-windows-gnu --lib --bins"; do
        read -ra words <<<"$line"
        CARGO_PROFILE_DEV_OPT_LEVEL=0 unless_missing "no standard library for ${words[0]} here: its check is SKIPPED" \
            scripts/cross.sh "${words[0]}" cargo check "${quick[@]}" --target "${words[@]}"
    done
else
    loud "without --long, benchmarks, fuzz targets, subgroups of other sizes, and types for pages, macOS and Windows are NOT CHECKED"
fi
if [ $long = yes ]; then
    say "rows of benchmarks, once and small: they check their answers"
    cargo test --locked --bench host
    cargo test --locked --bench engine -- cpu
    cargo test --locked --bench filter -- only="repeat of 3" only=copies only="one letter" only="50 Mb"
fi

# The tools that read the program's output.
outside=yes
wait_for "tools that read the output" || outside=no
has samtools || outside=no
browser=yes
has chromium || browser=no
if [ $outside = yes ]; then
    SWALIGN_TEST_PYTHON=$PWD/$venv/bin/python
    SWALIGN_TEST_SAMTOOLS=$(command -v samtools)
    SWALIGN_TEST_MULTIQC=$PWD/$venv/bin/multiqc
    export SWALIGN_TEST_PYTHON SWALIGN_TEST_SAMTOOLS SWALIGN_TEST_MULTIQC
fi
# Tests whose requirements are missing stay ignored.
[ $gpu = yes ] || loud "no Vulkan driver: the GPU tests (tests/gpu) are SKIPPED"
[ $outside = yes ] || loud "samtools, pysam or MultiQC is missing: tests/outside.rs and multiqc_reads_the_statistics are SKIPPED"
[ $browser = yes ] || loud "no Chromium: a_browser_draws_the_page in tests/it/report.rs is SKIPPED"
# All test programs in one build, so that the library and its unit tests compile at the same time.
say "building the tests"
cargo test --locked --lib --bins --tests --no-run
say "doc tests"
cargo test --locked --doc
say "all tests"
if cargo nextest --version >/dev/null 2>&1; then
    tests='all()'
    [ $gpu = yes ] || tests+=' - binary(=gpu)'
    [ $outside = yes ] || tests+=' - binary(=outside) - test(=report::multiqc_reads_the_statistics)'
    [ $browser = yes ] || tests+=' - test(=report::a_browser_draws_the_page)'
    cargo nextest run --locked --profile ci --run-ignored all -E "$tests"
elif [ $gpu$outside$browser = yesyesyes ]; then
    cargo test --locked --lib --bins --tests --no-fail-fast -- --include-ignored
else
    if [ $outside = yes ]; then
        cargo test --locked --test outside -- --include-ignored
        cargo test --locked --test it -- --ignored multiqc
    fi
    [ $browser = no ] || cargo test --locked --test it -- --ignored browser
    [ $gpu = no ] || cargo test --locked --test gpu -- --include-ignored
    cargo test --locked --lib --bins --tests --no-fail-fast
fi

# Kernels with one lane per lane of a subgroup, if subgroups have 4 or 16 lanes.
if [ $long = yes ] && [ $gpu = yes ] && [ -z "${SWALIGN_TEST_GPU-}" ] && cargo nextest --version >/dev/null 2>&1; then
    for bits in 128 512; do
        say "subgroups of $((bits / 32)) on lavapipe"
        LP_NATIVE_VECTOR_WIDTH=$bits cargo nextest run --locked --profile ci --run-ignored all --test gpu \
            -E 'test(=gpu_engines::gpu_agrees_at_every_seam) + test(=gpu_engines::gpu_agrees_on_databases)'
    done
fi

# The program that was built for the tests. Cargo alone would build it again, with other features of the dependencies.
SWALIGN=$(realpath "${CARGO_TARGET_DIR:-target}")/debug/swalign
if [ $long = yes ] || ! git diff --quiet HEAD~1 HEAD -- scripts/fuzz.py scripts/fuzzing 2>/dev/null; then
    say "does the fuzzer notice faults?"
    scripts/fuzz.py --self-test --swalign "$SWALIGN"
fi
# The fuzzer runs one command after another, and the jobs mostly wait.
beside "fuzzing whole commands" scripts/fuzz.py --seed 1 --seconds 120 --swalign "$SWALIGN"
export SWALIGN
beside "batch jobs on a small Slurm" scripts/cluster_test.sh
if [ $long = yes ]; then
    say "fuzzing what reads files, patterns and arguments"
    scripts/fuzz_targets.sh 10
fi

say "the Python package"
unless_missing "no Python with pip here: its packages are not installed" wait_for "packages of the Python tests"
unless_missing "no Python with pip here: the Python package is SKIPPED" scripts/python.sh

say "the web page"
unless_missing "no Rust for wasm32, Node.js, wasm-opt or Chromium here: the web page is SKIPPED" scripts/web.sh

say "fuzzing whole commands"
wait_for "fuzzing whole commands"
say "batch jobs on a small Slurm"
unless_missing "no Slurm here: scripts/cluster_test.sh is SKIPPED" wait_for "batch jobs on a small Slurm"
