#!/usr/bin/env bash
# Runs the batch jobs of workflow/slurm on a small real Slurm: three nodes on this machine, in a temporary folder. Tests
# that missing parts run again after tasks are killed and a node is lost (tests/cluster/faults.py).
#
# On Debian or Ubuntu, as root or with sudo, missing packages are installed. The cluster itself does not need root. Exit
# code 77 if Slurm cannot be installed. `scripts/cluster_test.sh install` only installs these packages. SWALIGN=FILE names a
# program to use instead of building one. --snakemake also runs workflow/snakemake, with packages that pip installs into
# target/cluster-venv.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=target/cluster-venv
snakemake=no
case ${1-} in
    '') ;;
    --snakemake) snakemake=yes ;;
    install) ;;
    *)
        echo "usage: scripts/cluster_test.sh [install | --snakemake]" >&2
        exit 2
        ;;
esac

. scripts/common.sh

packages=()
has munged || packages+=(munge)
has slurmctld || packages+=(slurmctld)
has slurmd || packages+=(slurmd)
has sbatch || packages+=(slurm-client)
has samtools || packages+=(samtools)
has python3 || packages+=(python3)
has shellcheck || packages+=(shellcheck)
[ $snakemake = no ] || can_make_venv || packages+=(python3-venv)
install_packages "${packages[@]}" || exit 77
[ "${1-}" != install ] || exit 0

say "shellcheck"
shellcheck -x scripts/*.sh tests/cluster/held_swalign workflow/slurm/*.sh workflow/slurm/*.sbatch \
    workflow/snakemake/profiles/cluster-generic/*.sh

if [ -z "${SWALIGN-}" ]; then
    say "cargo build"
    cargo build --locked --bin swalign
    SWALIGN=target/debug/swalign
fi
program=$SWALIGN
unset SWALIGN

say "Slurm"
python3 tests/cluster/faults.py "$program"

if [ $snakemake = yes ]; then
    if ! "$venv/bin/snakemake" --version >/dev/null 2>&1; then
        say "installing Snakemake into $venv"
        python3 -m venv "$venv"
        # Not by make_venv, because some of its dependencies have no wheels.
        "$venv/bin/pip" install --quiet snakemake==9.27.1 snakemake-executor-plugin-slurm==2.8.0 \
            snakemake-executor-plugin-cluster-generic==1.0.9
    fi
    say "Snakemake"
    python3 tests/cluster/snakemake_run.py "$venv/bin/snakemake" "$program"
fi
