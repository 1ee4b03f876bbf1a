#!/usr/bin/env python3
"""Makes reads of 150 from the longest sequence of a FASTA file (plain or gzip), for benchmarks.

    scripts/reads.py GENOME COUNT SEED > reads.fq
    scripts/reads.py GENOME COUNT SEED LENGTH ERRORS > long.fq

Both strands. Reads of 150 have 1.5 % of their letters drawn anew, and one letter too few or too many in 5 % of the reads.
Long reads are made of LENGTH letters of the genome and have errors in the share ERRORS of these, such as 0.02: of ten, as
Nanopore's current chemistry makes them, four replace a letter, four leave one out, and two put one in. The same arguments
give the same reads.
"""
import gzip
import math
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


def long_read(genome, rng, length, errors):
    start = rng.randrange(len(genome) - length)
    end, pieces = start + length, []
    while True:
        # The number of bases up to the next error.
        right = min(int(math.log(1 - rng.random()) / math.log(1 - errors)), end - start)
        pieces.append(genome[start:start + right])
        start += right
        if start >= end:
            break
        kind = rng.random()
        if kind < 0.4:
            pieces.append(rng.choice("ACGT".replace(genome[start], "")))
        elif kind >= 0.8:
            pieces.append(genome[start] + rng.choice("ACGT"))
        start += 1
    letters = "".join(pieces)
    return letters[::-1].translate(TURNED) if rng.random() < 0.5 else letters


def main(genome, count, seed, length=None, errors=None):
    genome, rng = longest(genome), random.Random(int(seed))
    for number in range(int(count)):
        letters = long_read(genome, rng, int(length), float(errors)) if length else read(genome, rng)
        sys.stdout.write(f"@r{number}\n{letters}\n+\n{'I' * len(letters)}\n")


if __name__ == "__main__":
    if len(sys.argv) not in (4, 6):
        sys.exit(__doc__)
    main(*sys.argv[1:])
