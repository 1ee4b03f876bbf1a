"""Writes the reads of tests/golden/cutadapt and what cutadapt 5.2 makes of them: make_cutadapt.py CUTADAPT.

Pairs of 16S primers (27F with its two codes, 519R): whole, with one to three mismatches, without one of the primers, with a
base before the primer, and so short that the reads reach the other primer.
"""

import pathlib
import random
import subprocess
import sys

FOLDER = pathlib.Path(__file__).parent / "cutadapt"
FORWARD, REVERSE = "AGAGTTTGATYMTGGCTCAG", "GWATTACCGCGGCKGCTG"
CODES = {"Y": "CT", "M": "AC", "W": "AT", "K": "GT"}
COMPLEMENT = str.maketrans("ACGTYMWK", "TGCARKWM")


def turned(letters):
    return letters.translate(COMPLEMENT)[::-1]


def concrete(rng, primer):
    return "".join(rng.choice(CODES.get(code, code)) for code in primer)


def mutated(rng, letters, count):
    letters = list(letters)
    for at in rng.sample(range(len(letters)), count):
        letters[at] = rng.choice([base for base in "ACGT" if base != letters[at]])
    return "".join(letters)


def main(cutadapt):
    rng = random.Random(16)
    pairs = []
    for number in range(80):
        insert = "".join(rng.choice("ACGT") for _ in range(rng.choice([0, 5, 20, 40, 60, 90, 200])))
        forward, reverse = concrete(rng, FORWARD), concrete(rng, REVERSE)
        begins = [mutated(rng, forward, rng.choice([0, 0, 0, 1, 2, 3])), mutated(rng, reverse, rng.choice([0, 0, 0, 1, 2, 3]))]
        kind = number % 8
        if kind == 6:
            begins[rng.randrange(2)] = ""
        if kind == 7:
            begins[0] = rng.choice("ACGT") + begins[0]
        reads = [
            begins[0] + insert + mutated(rng, turned(reverse), rng.choice([0, 1, 2])) + "CTGTCTCTTATACACATCT",
            begins[1] + turned(insert) + mutated(rng, turned(forward), rng.choice([0, 1, 2])) + "CTGTCTCTTATACACATCT",
        ]
        reads = [read[:120] for read in reads]
        quality = lambda read: "".join(chr(33 + rng.randrange(2, 41)) for _ in read)
        pairs.append([f"@M0:{number} {mate + 1}:N:0:1\n{read}\n+\n{quality(read)}\n" for mate, read in enumerate(reads)])
    for mate in (0, 1):
        (FOLDER / f"{mate + 1}.fq").write_text("".join(pair[mate] for pair in pairs))
    (FOLDER / "primers.fa").write_text(f">16S_F\n{FORWARD}\n>16S_R\n{REVERSE}\n")
    def linked(own, other):
        return f"^{own}...{turned(other)};min_overlap={len(other)}"
    for name, more in (("trimmed", []), ("kept", ["--action=retain"])):
        outputs = [FOLDER / f"{name}_{mate}.fq" for mate in (1, 2)]
        subprocess.run(
            [cutadapt, "-e", "2", "--no-indels", "--pair-filter=any", "-a", linked(FORWARD, REVERSE), "-A", linked(REVERSE, FORWARD)]
            + ["-o", outputs[0], "-p", outputs[1], "--discard-untrimmed"]
            + more
            + [FOLDER / "1.fq", FOLDER / "2.fq"],
            check=True,
        )


main(sys.argv[1])
