#!/usr/bin/env python3
"""Makes pairs of reads whose places are known, and says how many an aligner puts elsewhere.

    scripts/mates.py simulate GENOME.fa PREFIX [options]   PREFIX_1.fq, PREFIX_2.fq and PREFIX.vcf
    scripts/mates.py repeats LETTERS SEED                  a made genome, rich in repeats, on stdout
    scripts/mates.py judge ALIGNED.sam                     a table: reads and wrong ones by mapping quality

The names of simulated reads tell where they come from, so that judge needs nothing else:
NUMBER!REFERENCE!START1!END1!STRAND1!START2!END2!STRAND2, 0-based and half-open on the reference. A primary record is
wrong if it overlaps less than half of its read's true stretch, or lies on the other strand. The same arguments give the
same reads.
"""
import argparse
import gzip
import math
import random
import sys

COMPLEMENT = str.maketrans("ACGTN", "TGCAN")
GOOD, BAD = "F", "0"


def fasta(path):
    opener = gzip.open if path.endswith(".gz") else open
    names, sequences = [], []
    with opener(path, "rt") as lines:
        for line in lines:
            if line.startswith(">"):
                names.append(line[1:].split()[0])
                sequences.append([])
            else:
                sequences[-1].append(line.strip().upper())
    return list(zip(names, map("".join, sequences)))


class Donor:
    """A sequence with variants, and where each of its letters is in the reference."""

    def __init__(self, reference, substitutions, deletions, insertions, rng):
        kinds = ["X"] * substitutions + ["D"] * deletions + ["I"] * insertions
        # Variants keep a distance from each other and from the ends, so that they never touch.
        room = max(1, (len(reference) - 400) // max(1, len(kinds)))
        slots = sorted(rng.sample(range(max(1, (len(reference) - 400) // room)), len(kinds)))
        places = [200 + slot * room + rng.randrange(max(1, room - 60)) for slot in slots]
        rng.shuffle(kinds)
        self.variants, pieces, starts, at, letters = [], [], [], 0, 0
        self.borders = []  # (place in the donor, place in the reference) where a piece begins

        def keep(to):
            nonlocal at, letters
            self.borders.append((letters, at))
            pieces.append(reference[at:to])
            letters += to - at
            at = to

        for place, kind in zip(places, kinds):
            keep(place + 1 if kind in "DI" else place)
            before = reference[at - 1]
            if kind == "X":
                other = rng.choice([letter for letter in "ACGT" if letter != reference[at]])
                self.variants.append((at, reference[at], other))
                self.borders.append((letters, at))
                pieces.append(other)
                letters, at = letters + 1, at + 1
            elif kind == "D":
                size = rng.choice([1, 2, 3, 3, 6, 9, 15, 30])
                self.variants.append((at - 1, reference[at - 1:at + size], before))
                at += size
            else:
                new = "".join(rng.choice("ACGT") for _ in range(rng.choice([1, 2, 3, 6])))
                self.variants.append((at - 1, before, before + new))
                self.borders.append((letters, at))
                pieces.append(new)
                letters += len(new)
        keep(len(reference))
        self.letters = "".join(pieces)
        self.starts = [place for place, _ in self.borders]

    def place(self, at):
        low, high = 0, len(self.starts)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.starts[middle] <= at else (low, middle)
        donor, reference = self.borders[low]
        return reference + at - donor


def spoil(letters, errors, indels, rng):
    """A read of the letters: substitutions, and now and then one letter too few or too many."""
    qualities = None
    if rng.random() < indels:
        place = rng.randrange(5, len(letters) - 5)
        if rng.random() < 0.5:
            letters = letters[:place] + letters[place + 1:]
        else:
            letters = letters[:place] + rng.choice("ACGT") + letters[place:]
    if errors > 0:
        at = int(math.log(1 - rng.random()) / math.log(1 - errors))
        while at < len(letters):
            other = rng.choice([letter for letter in "ACGT" if letter != letters[at]])
            letters = letters[:at] + other + letters[at + 1:]
            qualities = qualities or [GOOD] * len(letters)
            qualities[at] = BAD
            at += 1 + int(math.log(1 - rng.random()) / math.log(1 - errors))
    return letters, "".join(qualities) if qualities else GOOD * len(letters)


def simulate(arguments):
    rng = random.Random(arguments.seed)
    mean, deviation = arguments.insert
    references = fasta(arguments.genome)
    share = [arguments.substitutions, arguments.deletions, arguments.insertions]
    donors = [(name, Donor(letters, *share, rng)) for name, letters in references]
    weights = [len(donor.letters) for _, donor in donors]
    with open(arguments.prefix + ".vcf", "w") as vcf:
        vcf.write("##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n")
        for name, donor in donors:
            for at, old, new in donor.variants:
                vcf.write(f"{name}\t{at + 1}\t.\t{old}\t{new}\t.\t.\t.\n")
    length = arguments.length
    with open(arguments.prefix + "_1.fq", "w") as first, open(arguments.prefix + "_2.fq", "w") as second:
        for number in range(arguments.pairs):
            name, donor = donors[0] if len(donors) == 1 else rng.choices(donors, weights)[0]
            while True:
                size = max(length + 1, round(rng.gauss(mean, deviation)))
                if size + 2 <= len(donor.letters):
                    break
            start = rng.randrange(len(donor.letters) - size - 1)
            left = (start, start + length, "+")
            right = (start + size - length, start + size, "-")
            mates = (left, right) if rng.random() < 0.5 else (right, left)
            told = "!".join(f"{donor.place(at)}!{donor.place(end - 1) + 1}!{strand}" for at, end, strand in mates)
            for out, number_of_mate, (at, end, strand) in zip((first, second), (1, 2), mates):
                # Takes one more base, in case an error deletes one.
                letters = donor.letters[at:end + 1] if strand == "+" else donor.letters[at - 1:end] if at else donor.letters[at:end]
                if strand == "-":
                    letters = letters[::-1].translate(COMPLEMENT)
                letters, qualities = spoil(letters, arguments.errors, arguments.indels, rng)
                letters, qualities = letters[:length], qualities[:length]
                out.write(f"@{number}!{name}!{told}/{number_of_mate}\n{letters}\n+\n{qualities}\n")


def repeats(arguments):
    """Families of repeats from 200 to 5,000 letters, 2 to 40 copies that are 0 to 15 % apart, in random letters."""
    rng = random.Random(arguments.seed)
    pieces, letters = [], 0

    def drawn(count):
        return "".join(rng.choices("ACGT", k=count))

    def copy(letters, apart):
        out = list(letters)
        for place in range(len(out)):
            if rng.random() < apart:
                out[place] = rng.choice("ACGT")
        return "".join(out)

    families = []
    while letters < arguments.letters:
        if not families or rng.random() < 0.15:
            families.append((drawn(rng.choice([200, 300, 500, 1000, 1500, 5000])), rng.choice([0, 0.001, 0.005, 0.02, 0.05, 0.15])))
        family, apart = rng.choice(families[-20:])
        piece = drawn(rng.randrange(100, 3000)) + copy(family, apart)
        if rng.random() < 0.02:
            unit = drawn(rng.choice([3, 7, 30, 170]))
            piece += unit * rng.randrange(5, 30)
        pieces.append(piece)
        letters += len(piece)
    genome = "".join(pieces)[:arguments.letters]
    print(">made")
    for at in range(0, len(genome), 100):
        print(genome[at:at + 100])


def stretch(cigar):
    number, target = 0, 0
    for letter in cigar:
        if letter.isdigit():
            number = 10 * number + int(letter)
        else:
            target += number if letter in "MDN=X" else 0
            number = 0
    return target


def judge(arguments):
    by_quality = [[0, 0] for _ in range(256)]
    reads = proper = unmapped = 0
    opener = gzip.open if arguments.sam.endswith(".gz") else open
    with opener(arguments.sam, "rt") if arguments.sam != "-" else sys.stdin as lines:
        for line in lines:
            if line.startswith("@"):
                continue
            name, flags, reference, pos, quality, cigar = line.split("\t", 6)[:6]
            flags, pos = int(flags), int(pos) - 1
            if flags & 0x900:
                continue
            reads += 1
            proper += bool(flags & 2)
            if flags & 4:
                unmapped += 1
                continue
            _, true_reference, *places = name.split("!")
            start, end, strand = places[3:6] if flags & 128 else places[:3]
            start, end = int(start), int(end)
            shared = min(end, pos + stretch(cigar)) - max(start, pos)
            right = reference == true_reference and strand == "+-"[flags >> 4 & 1] and 2 * shared >= end - start
            by_quality[int(quality)][0] += 1
            by_quality[int(quality)][1] += not right
    print(f"#reads\t{reads}\tproper\t{proper}\tunmapped\t{unmapped}\nmapq\tmapped\twrong")
    mapped = wrong = 0
    for quality in reversed(range(256)):
        here, here_wrong = by_quality[quality]
        mapped, wrong = mapped + here, wrong + here_wrong
        if here:
            print(f"{quality}\t{mapped}\t{wrong}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    of_simulate = commands.add_parser("simulate")
    of_simulate.set_defaults(run=simulate)
    of_simulate.add_argument("genome")
    of_simulate.add_argument("prefix")
    of_simulate.add_argument("--pairs", type=int, default=200_000)
    of_simulate.add_argument("--seed", type=int, default=1)
    of_simulate.add_argument("--length", type=int, default=150)
    of_simulate.add_argument("--insert", type=lambda text: tuple(map(float, text.split(","))), default=(350.0, 50.0))
    of_simulate.add_argument("--errors", type=float, default=0.005, help="substitutions a letter")
    of_simulate.add_argument("--indels", type=float, default=0.01, help="reads with one letter too few or too many")
    of_simulate.add_argument("--substitutions", type=int, default=0, help="variants of each reference")
    of_simulate.add_argument("--deletions", type=int, default=0)
    of_simulate.add_argument("--insertions", type=int, default=0)
    of_repeats = commands.add_parser("repeats")
    of_repeats.set_defaults(run=repeats)
    of_repeats.add_argument("letters", type=int)
    of_repeats.add_argument("seed", type=int)
    of_judge = commands.add_parser("judge")
    of_judge.set_defaults(run=judge)
    of_judge.add_argument("sam")
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
