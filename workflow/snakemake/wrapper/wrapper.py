"""Snakemake wrapper for swalign: exact Smith-Waterman alignment."""

__author__ = "the swalign authors"
__license__ = "MIT"

from snakemake.shell import shell

log = snakemake.log_fmt_shell(stdout=False, stderr=True)
extra = snakemake.params.get("extra", "")
part = snakemake.params.get("part", "")
if part:
    part = f"--resume --part {part}"

shell(
    "swalign {part} --threads {snakemake.threads} {extra}"
    " --output {snakemake.output[0]:q} {snakemake.input.query:q} {snakemake.input.reference:q} {log}"
)
