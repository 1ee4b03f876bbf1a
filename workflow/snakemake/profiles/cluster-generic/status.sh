#!/bin/bash
# Says to Snakemake how a Slurm job fares: running, success or failed.
set -uo pipefail

case $(squeue --noheader --states=all --jobs="$1" --format=%T 2>/dev/null) in
    BOOT_FAIL | CANCELLED | DEADLINE | FAILED | NODE_FAIL | OUT_OF_MEMORY | TIMEOUT) echo failed ;;
    COMPLETED) echo success ;;
    # Slurm has forgotten it (MinJobAge). An output is whole or not there, so Snakemake, which looks for it
    # after a success, finds out. A Slurm that does not answer looks the same, so it is asked first.
    '') if scontrol ping 2>/dev/null | grep -q UP; then echo success; else echo running; fi ;;
    *) echo running ;;
esac
