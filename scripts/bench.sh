#!/usr/bin/env bash
# Runs all benchmarks on one machine, and prints results in the columns of docs/benchmarks.tsv: the rows of the engine
# benchmark, whole commands, growth, the CPU engine on one thread of each instruction set, and peers.
#
#   scripts/bench.sh [--quick] [--device DEVICE]
#
# DEVICE is auto, cpu, gpu or gpu:NAME, as for swalign's --device. --quick divides the work, as a smoke test for
# machines without a GPU; its figures are meaningless. BENCH_ENGINE, BENCH_CPU and SWALIGN name executables that are
# already built (target/release/deps/engine-* and cpu-*, made by `cargo bench --no-run`, and swalign). With all three,
# Rust is not needed. PYTHON names a Python that has parasail. COMMIT names the commit if there is no git repository.
# Exit code 1 if a row failed.
#
# Append the output to the table, add a key to the lines that docs/benchmarks.md shows, and run scripts/plots.py.
set -euo pipefail
cd "$(dirname "$0")/.."

quick=no device=auto
while [ $# -gt 0 ]; do
    case $1 in
    --quick) quick=yes ;;
    --device) device=${2:?--device needs a name} && shift ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
    esac
    shift
done
PYTHON=${PYTHON:-python3}
small=() pairs=1000000 reads=1000000 peer_pairs=100000 peer_queries=200
if [ $quick = yes ]; then
    small=(small) pairs=10000 reads=1000 peer_pairs=2000 peer_queries=20
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0 tab=$'\t' day=$(date -u +%Y-%m-%d)

say() { printf '[%d s] %s\n' "$SECONDS" "$*" >&2; }

# Prints the executable of target $1, from cargo's messages on stdin.
executable() {
    "$PYTHON" -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable") and message["target"]["name"] == sys.argv[1]:
        print(message["executable"])' "$1"
}

# Prints the lines of one measurement: program, work, cells, wall and kernel seconds, peak MiB, note; - means unknown.
row() {
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$@" | awk -F '\t' -v OFS='\t' -v begin="-$tab$day$tab$commit$tab$machine" '
        function short(x) { return sprintf(x >= 100 ? "%.0f" : "%.3g", x) }
        function line(measure, value, unit) { if (value != "-") print begin, $1, $2, measure, value, unit, $7 == "" ? "-" : $7 }
        function rate(measure, s) { if ($3 != "-" && s != "-" && s != 0) line(measure, short($3 / s / 1e9), "GCUPS") }
        $7 ~ /FAILED|missing/ { print begin, $1, $2, "wall", "-", "s", $7; next }
        {
            line("cells", $3, "cells")
            line("wall", $4, "s")
            rate("wall rate", $4)
            if ($5 != 0) line("kernel", $5, "s")
            rate("kernel rate", $5)
            line("peak", $6, "MiB")
        }'
}

# Runs the rows of the engine benchmark, each in its own process, so that copies that a row leaves behind do not slow
# the next row. (macOS' bash 3 treats an empty array as unset, hence the ${small[@]+...} here and below.)
engine_rows() {
    local name work cells wall kernel
    "$BENCH_ENGINE" --bench list "$@" >"$folder/names"
    while IFS= read -r name; do
        say "engine: $name"
        if "$BENCH_ENGINE" --bench "$device" ${small[@]+"${small[@]}"} "$@" "only=$name" >"$folder/row" </dev/null; then
            IFS=$'\t' read -r work _ cells _ _ wall _ kernel _ <<<"$(tail -n 1 "$folder/row")"
            row "swalign engine" "$work" "$cells" "$wall" "$kernel" - "answers checked"
        else
            row "swalign engine" "$name" - - - - FAILED
            failed=1
        fi
    done <"$folder/names"
}

# Runs a whole command: its name, cells, and the command. The peak is that of the only child of a new Python process.
command_row() {
    local name=$1 cells=$2 wall peak
    shift 2
    say "command: $name"
    if "$PYTHON" - "$@" >"$folder/row" <<'PYTHON'
import resource, subprocess, sys, time
begun = time.perf_counter()
code = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode
wall = time.perf_counter() - begun
# ru_maxrss is in bytes on macOS, and in KiB on Linux.
unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
print(f"{wall:.3f}\t{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / unit:.0f}")
sys.exit(code)
PYTHON
    then
        IFS=$'\t' read -r wall peak <"$folder/row"
        row swalign "$name" "$cells" "$wall" - "$peak" ""
    else
        row swalign "$name" - - - - FAILED
        failed=1
    fi
}

command_rows() {
    local pair_cells read_cells on=(--quiet --device "$device")
    say "making inputs"
    "$PYTHON" scripts/peers.py inputs "$folder" $pairs $reads >"$folder/cells"
    IFS=$'\t' read -r pair_cells read_cells <"$folder/cells"
    head -n 8 "$folder/reads.fq" >"$folder/two.fq"
    local fasta=("$folder/pairs.q.fa" "$folder/pairs.t.fa") out=$folder/out.sam
    command_row "two reads on data/sars2.fa, start to end" $((2 * 2 * 150 * 29903)) \
        "$SWALIGN" "${on[@]}" -o "$out" "$folder/two.fq" data/sars2.fa
    command_row "pairs, $pairs pairs of 150 x about 250, to /dev/null" "$pair_cells" \
        "$SWALIGN" pairs "${on[@]}" -o /dev/null "${fasta[@]}"
    command_row "pairs, $pairs pairs of 150 x about 250, to a file" "$pair_cells" \
        "$SWALIGN" pairs "${on[@]}" -o "$out" "${fasta[@]}"
    command_row "--filter none, $reads reads of 150 on data/sars2.fa, both strands, to a file" "$read_cells" \
        "$SWALIGN" "${on[@]}" --filter none -o "$out" "$folder/reads.fq" data/sars2.fa
    command_row "the same reads, behind the filter" - \
        "$SWALIGN" "${on[@]}" -o "$folder/filtered.sam" "$folder/reads.fq" data/sars2.fa
    if ! cmp -s <(grep -v '^@PG' "$out") <(grep -v '^@PG' "$folder/filtered.sam"); then
        row swalign "the same records with and without the filter" - - - - FAILED
        failed=1
    fi
}

cpu_rows() {
    local set work cells wall
    say "CPU engine"
    if "$BENCH_CPU" --bench ${small[@]+"${small[@]}"} >"$folder/cpu"; then
        sed 1d "$folder/cpu" >"$folder/cpu_rows"
        while IFS=$'\t' read -r work set cells _ wall _; do
            row "swalign engine, $set, 1 thread" "$work" "$cells" "$wall" - - "answers checked"
        done <"$folder/cpu_rows"
    else
        row "swalign engine" "CPU" - - - - FAILED
        failed=1
    fi
}

peer_rows() {
    local work cells wall note
    say "peers"
    "$PYTHON" scripts/peers.py run "$SWALIGN" $peer_pairs $peer_queries >"$folder/peers" || failed=1
    sed 1d "$folder/peers" >"$folder/peer_rows"
    while IFS=$'\t' read -r work cells wall _ note; do
        row "${work%%, *}" "${work#*, }" "$cells" "$wall" - - "$note"
    done <"$folder/peer_rows"
}

if [ -z "${BENCH_ENGINE-}" ] || [ -z "${BENCH_CPU-}" ] || [ -z "${SWALIGN-}" ]; then
    say "building"
    # Cargo builds the binaries of a package along with its benchmarks.
    cargo bench --locked --no-run --bench engine --bench cpu --message-format=json-render-diagnostics >"$folder/cargo"
    BENCH_ENGINE=${BENCH_ENGINE:-$(executable engine <"$folder/cargo")}
    BENCH_CPU=${BENCH_CPU:-$(executable cpu <"$folder/cargo")}
    SWALIGN=${SWALIGN:-$(executable swalign <"$folder/cargo")}
fi

if [ "$device" = auto ]; then
    device=gpu
    if "$SWALIGN" devices 2>/dev/null | grep -q '^cpu.*default$'; then device=cpu; fi
fi
say "device: $device"
name=$("$BENCH_ENGINE" --bench "$device" small growth "only=pairs 10 of" | tail -n 1 | cut -f 2)
driver=$("$SWALIGN" devices 2>/dev/null | awk -F '\t' -v name="$name" 'index(name, $2) { print $9; exit }')
processor=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | sed -n 1p || true)
machine="$(uname -sm), ${processor:-unknown processor}, $(getconf _NPROCESSORS_ONLN) cores, $name, driver ${driver:--}"
commit=${COMMIT:-$(git describe --always --dirty 2>/dev/null || echo unknown)}
if [ $quick = yes ]; then commit="$commit, quick: the work is divided, the names of the engine's rows are not"; fi
printf 'key\tdate\tcommit\tmachine\tprogram\twork\tmeasure\tvalue\tunit\tnote\n'
engine_rows
command_rows
engine_rows growth
cpu_rows
peer_rows
exit $failed
