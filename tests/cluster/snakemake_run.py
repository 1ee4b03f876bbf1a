#!/usr/bin/env python3
"""workflow/snakemake run for real: here, and on a small Slurm by each of its two profiles.

Usage: snakemake_run.py SNAKEMAKE SWALIGN (both programs). Each joined BAM has to be that of the run in one
piece, byte for byte.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from faults import OPTIONS, PARTS, REFERENCE, ROOT, make_reads, same, say
from small_slurm import SmallSlurm, find

WORKFLOW = ROOT / "workflow" / "snakemake"


def run(snakemake, profile, folder, swalign, environment):
    """One run of the workflow; gives the joined file."""
    work = folder / f"run {profile}"
    work.mkdir()
    (work / "settings.yaml").write_text(
        f"query: {folder}/reads.fq.gz\nreference: {REFERENCE}\nparts: {PARTS}\nout: an output/x\n"
        f"extra: \"{' '.join(OPTIONS)}\"\nprogram: {swalign}\nmem_mb: 200\n")
    begin = time.monotonic()
    # Its caches go with the folder.
    environment = dict(environment, HOME=str(folder), XDG_CACHE_HOME=str(folder / "cache"))
    done = subprocess.run([snakemake, "-s", WORKFLOW / "Snakefile", "--profile", WORKFLOW / "profiles" / profile,
                           "--configfile", "settings.yaml"], cwd=work, env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        print(done.stdout, file=sys.stderr)
        for path in sorted(work.rglob("*.log")):
            print(f"--- {path}\n{path.read_text()}", file=sys.stderr)
        raise AssertionError(f"Snakemake with the profile {profile} ended with {done.returncode}")
    say(f"{profile}: {time.monotonic() - begin:.0f} s")
    return work / "an output" / "x.bam"


def keep_configuration(slurm, folder):
    """The slurm plugin calls srun without the job's SLURM_ variables, SLURM_CONF among them. A cluster has its
    configuration in a place that srun knows; this one has not."""
    srun = folder / "bin" / "srun"
    srun.parent.mkdir()
    srun.write_text(f"#!/bin/sh\nSLURM_CONF='{slurm.env['SLURM_CONF']}' exec {find('srun')} \"$@\"\n")
    srun.chmod(0o755)
    slurm.env["PATH"] = f"{srun.parent}:{slurm.env['PATH']}"


def main(snakemake, swalign):
    profiles = ["local", "cluster-generic", "slurm"]
    # Not to be found under another name by the jobs: Snakemake starts itself there.
    os.environ["PATH"] = f"{snakemake.parent}:{os.environ['PATH']}"
    with tempfile.TemporaryDirectory(prefix="swalign-snakemake-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        make_reads(folder / "reads.fq.gz")
        whole = folder / "whole.bam"
        subprocess.run([swalign, "-o", whole, *OPTIONS, folder / "reads.fq.gz", REFERENCE], check=True)
        (folder / "slurm").mkdir()
        with SmallSlurm(folder / "slurm") as slurm:
            keep_configuration(slurm, folder)
            for profile in profiles:
                joined = run(snakemake, profile, folder, swalign, slurm.env)
                same(joined, whole, f"{profile}: the joined BAM is that of the run in one piece, byte for byte")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]).absolute(), Path(sys.argv[2]).resolve())
