#!/usr/bin/env bash
# Builds the fuzz targets of fuzz/ on stable Rust and runs each from its corpus: scripts/fuzz_targets.sh [SECONDS]
# [TARGET...], by default 20 seconds and all targets. Exit code 1 if a target fails; its input is kept in
# fuzz/artifacts/TARGET. Runs are seeded; SEED=N sets a seed other than 1. If SWALIGN_FUZZ_GROW is set, inputs that
# reach new code are merged into the corpus, fuzz/corpus/TARGET.hex, which has an input per line in hexadecimal digits.
#
# libFuzzer is C++. On Debian or Ubuntu, as root or with sudo, g++ is installed if it is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-20}
shift || true
target_dir=${CARGO_TARGET_DIR:-$PWD/target}
. scripts/common.sh

has g++ || install_packages g++

say "building the fuzz targets"
began=$SECONDS
RUSTC_WRAPPER=$PWD/fuzz/instrument.sh cargo build --locked --manifest-path fuzz/Cargo.toml --target-dir "$target_dir"
say "built in $((SECONDS - began)) s"

targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    for file in fuzz/fuzz_targets/*.rs; do targets+=("$(basename "$file" .rs)"); done
fi

# Files that targets write and inputs that they find are kept in memory, if the system has a folder in memory.
memory=/dev/shm
[ -d $memory ] && [ -w $memory ] || memory=${TMPDIR:-/tmp}
TMPDIR=$(mktemp -d -p "$memory")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

# Writes each input of a corpus to a file: unpack CORPUS FOLDER; and the corpus of a folder: pack FOLDER CORPUS.
unpack() {
    python3 - "$@" <<'PY'
import pathlib, sys
corpus, folder = map(pathlib.Path, sys.argv[1:])
lines = corpus.read_text().splitlines() if corpus.exists() else []
for number, line in enumerate(lines):
    (folder / f"{number:04}").write_bytes(bytes.fromhex(line))
PY
}
pack() {
    python3 - "$@" <<'PY'
import pathlib, sys
folder, corpus = map(pathlib.Path, sys.argv[1:])
inputs = sorted({file.read_bytes() for file in folder.iterdir()}, key=lambda data: (len(data), data))
corpus.write_text("".join(data.hex() + "\n" for data in inputs))
PY
}

# Runs one target. Returns 1 if it fails, or if the fuzzer has no coverage of the code that its inputs reach.
fuzz() {
    local target=$1
    local corpus=$TMPDIR/corpus.$target found=$TMPDIR/found.$target artifacts=fuzz/artifacts/$target log=$TMPDIR/$target.log
    local limits=(-rss_limit_mb=1024 -timeout=20 -max_len=2048) status=0
    mkdir -p "$corpus" "$found" "$artifacts"
    unpack "fuzz/corpus/$target.hex" "$corpus"
    # New inputs are written to the first folder, so the corpus stays unchanged.
    "$target_dir/debug/$target" "$found" "$corpus" "${limits[@]}" -max_total_time="$seconds" -seed="${SEED:-1}" \
        -artifact_prefix="$artifacts/" -print_final_stats=1 >"$log" 2>&1 || status=1
    if [ $status -eq 0 ]; then
        echo "$target: $(grep -E '^Done ' "$log"), $(awk '/^stat::peak_rss_mb/ { print $2 }' "$log") MiB" >&2
    else
        tail -n 40 "$log" >&2
    fi
    # Without coverage, the fuzzer would only try random inputs.
    if ! grep -q 'cov: ' "$log"; then
        echo "$target: the targets have no coverage counters: see fuzz/instrument.sh" >&2
        status=1
    fi
    if [ -n "${SWALIGN_FUZZ_GROW-}" ]; then
        local merged=$TMPDIR/merged.$target
        mkdir "$merged"
        "$target_dir/debug/$target" -set_cover_merge=1 "${limits[@]}" "$merged" "$corpus" "$found" >>"$log" 2>&1
        pack "$merged" "fuzz/corpus/$target.hex"
    fi
    return $status
}

say "${targets[*]}: $seconds s each"
cores=$(nproc)
for target in "${targets[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$cores" ]; do wait -n || true; done
    { fuzz "$target" || echo "$target" >>"$TMPDIR/failed"; } &
done
wait
mapfile -t failed < <(cat "$TMPDIR/failed" 2>/dev/null)

if [ ${#failed[@]} -gt 0 ]; then
    echo "fuzzing found something in: ${failed[*]}; the inputs are in fuzz/artifacts, to run alone by" \
        "$target_dir/debug/TARGET INPUT" >&2
    exit 1
fi
say "nothing found"
