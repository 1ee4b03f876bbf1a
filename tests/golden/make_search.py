#!/usr/bin/env python3
"""Writes search.tsv: fewest edits of patterns at each end in short texts, by edlib (pip install edlib).

Usage: make_search.py > search.tsv, in this folder. Real texts are cut out of ../../data.
"""
import random

import edlib

IUPAC = {"R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC", "B": "CGT", "D": "AGT", "H": "ACT",
         "V": "ACG", "N": "ACGTN"}
# What equals what is symmetric in edlib, and here it is not: codes of a pattern are lower case to it, so that N
# of a text equals nothing but N of a pattern. Other codes do not occur in these texts.
EQUAL = [(code.lower(), base) for code, bases in IUPAC.items() for base in bases]
# Ends with more edits are left out.
MOST = 6


def ends(pattern, text):
    """End, fewest edits and all starts with so many, at each end: the reverse of both is anchored there."""
    found = []
    pattern = "".join(letter.lower() if letter in IUPAC else letter for letter in pattern)
    for end in range(1, len(text) + 1):
        best = edlib.align(pattern[::-1], text[:end][::-1], mode="SHW", task="locations", additionalEqualities=EQUAL)
        if best["editDistance"] <= min(MOST, len(pattern)):
            starts = sorted({end - 1 - last for _, last in best["locations"] if last is not None})
            found.append(f"{end}:{best['editDistance']}:{','.join(map(str, starts))}")
    return found


def mutated(pick, letters, edits):
    letters = list(letters)
    for _ in range(edits):
        at = pick.randrange(len(letters))
        kind = pick.randrange(3)
        if kind == 0:
            letters[at] = pick.choice("ACGT")
        elif kind == 1:
            letters.insert(at, pick.choice("ACGT"))
        elif len(letters) > 1:
            del letters[at]
    return "".join(letters)


def main():
    pick = random.Random(1)
    genome = "".join(open("../../data/sars2.fa").read().split("\n")[1:])
    print("pattern\ttext\tends")
    for number in range(120):
        length = pick.choice([1, 2, 3, 5, 8, 12, 20, 31, 32, 33, 40, 63, 64, 65])
        at = pick.randrange(len(genome) - 400)
        if number % 3:
            text = genome[at:at + length + 60]
        else:
            text = "".join(pick.choice("AC" if number % 2 else "ACGT") for _ in range(length + 60))
        begin = pick.randrange(len(text) - length + 1)
        pattern = mutated(pick, text[begin:begin + length], number % 5)
        if number % 4 == 0:
            codes = [code for code in IUPAC]
            pattern = "".join(pick.choice(codes) if pick.random() < 0.2 else letter for letter in pattern)
        if number % 7 == 0:
            text = "".join("N" if pick.random() < 0.05 else letter for letter in text)
        print(pattern, text, " ".join(ends(pattern, text)) or "-", sep="\t")


if __name__ == "__main__":
    main()
