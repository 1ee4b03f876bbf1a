#!/usr/bin/env python3
"""Makes reads of 150 from the longest sequence of a FASTA file (plain or gzip), for benchmarks.

    scripts/reads.py GENOME COUNT SEED > reads.fq

Both strands, 1.5 % of the letters drawn anew, and one letter too few or too many in 5 % of the reads. The
same arguments give the same reads.
"""
import gzip
import random
import sys

LENGTH = 150
TURNED = str.maketrans("ACGT", "TGCA")


def longest(path):
    opener = gzip.open if path.endswith(".gz") else open
    sequences = []
    with opener(path, "rt") as lines:
        for line in lines:
            if line.startswith(">"):
                sequences.append([])
            else:
                sequences[-1].append(line.strip().upper())
    return max(map("".join, sequences), key=len)


def read(genome, rng):
    start = rng.randrange(len(genome) - LENGTH - 1)
    letters = list(genome[start:start + LENGTH + 1])
    if rng.random() < 0.05:
        place = rng.randrange(5, LENGTH - 5)
        if rng.random() < 0.5:
            del letters[place]
        else:
            letters.insert(place, rng.choice("ACGT"))
    letters = letters[:LENGTH]
    for place in range(LENGTH):
        if rng.random() < 0.015:
            letters[place] = rng.choice("ACGT")
    letters = "".join(letters)
    return letters[::-1].translate(TURNED) if rng.random() < 0.5 else letters


def main(genome, count, seed):
    genome, rng = longest(genome), random.Random(int(seed))
    for number in range(int(count)):
        sys.stdout.write(f"@r{number}\n{read(genome, rng)}\n+\n{'I' * LENGTH}\n")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
