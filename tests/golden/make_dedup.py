#!/usr/bin/env python3
"""Writes dedup.tsv beside this script: the sets that vsearch finds among pieces of the reads of data/amplicon_16s.fq.gz.

Piece i, from 0, of read i has the first 60, 60, 50 or 100 letters (by i modulo 4), is turned into its reverse complement
where i modulo 5 is 4, and stands for i modulo 3 + 1 reads. tests/it/dedup.rs makes the same pieces.
"""
import gzip, os, subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
READS = os.path.join(HERE, "..", "..", "data", "amplicon_16s.fq.gz")
MODES = {
    "whole": ["--derep_fulllength"],
    "both": ["--strand", "both", "--derep_fulllength"],
    "prefix": ["--derep_prefix"],
}

lines = gzip.open(READS, "rt").read().splitlines()
pieces = []
for i in range(len(lines) // 4):
    name, letters = lines[4 * i][1:].split()[0], lines[4 * i + 1][: [60, 60, 50, 100][i % 4]]
    if i % 5 == 4:
        letters = letters[::-1].translate(str.maketrans("ACGT", "TGCA"))
    pieces.append(f">{name};size={i % 3 + 1}\n{letters}\n")

with open(os.path.join(HERE, "dedup.tsv"), "w") as table:
    table.write("mode\tname\tsize\n")
    for mode, options in MODES.items():
        line = ["vsearch", "--sizein", "--sizeout", "--output", "-", *options, "-"]
        found = subprocess.run(line, input="".join(pieces), capture_output=True, text=True, check=True).stdout
        for header in (line[1:] for line in found.splitlines() if line.startswith(">")):
            name, size = header.split(";size=")
            table.write(f"{mode}\t{name}\t{size}\n")
