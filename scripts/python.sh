#!/usr/bin/env bash
# Builds the Python package from python/ and runs its tests: scripts/python.sh [PYTEST ARGUMENTS]. The package is
# compiled like the tests of the main crate (profile dev, same target folder), and installed into its own virtual
# environment, with the libraries that it is compared with. `scripts/python.sh install` only makes the environment and
# installs these libraries. Exit code 77 if there is no Python, pip or package index: then nothing was tested.
set -euo pipefail
cd "$(dirname "$0")/.."

target_dir=${CARGO_TARGET_DIR:-$PWD/target}
venv=$target_dir/python-venv
# Versions are pinned, so that a failure has its cause in this repository.
packages=(maturin==1.16.0 pytest==9.2.0 mypy==2.4.1 numpy==2.4.6 parasail==1.3.4 edlib==1.3.9.post1 biopython==1.88)

. scripts/common.sh
make_venv "$venv" "${packages[@]}"
[ "${1-}" != install ] || exit 0

say "building the Python package"
began=$SECONDS
rm -rf "$target_dir/python-wheel"
"$venv/bin/maturin" build --quiet --locked --profile dev --manifest-path python/Cargo.toml \
    --target-dir "$target_dir" --interpreter "$venv/bin/python" --compatibility linux --out "$target_dir/python-wheel"
"$venv/bin/pip" install --quiet --force-reinstall --no-deps --no-index "$target_dir"/python-wheel/pyswalign-*.whl
say "built in $((SECONDS - began)) s"

say "types of the Python package"
(cd python && "$venv/bin/mypy" --strict --cache-dir "$target_dir/python-mypy" --python-executable "$venv/bin/python" \
    pyswalign tests benchmarks)

say "tests of the Python package"
program=$(realpath "${SWALIGN:-$target_dir/debug/swalign}")
cd python/tests
SWALIGN=$program "$venv/bin/python" -m pytest -p no:cacheprovider "$@"
