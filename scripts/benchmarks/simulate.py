"""Simulated reads of known origin, and the accuracy of an aligner that places them."""
import bisect
import math
import random
import sys

from sequences import fasta, fastq, opened, reverse_complement, target_len

GOOD, BAD = "F", "0"


class Donor:
    """A sequence with variants, and the position of each of its bases in the reference."""

    def __init__(self, reference, substitutions, deletions, insertions, rng):
        kinds = ["X"] * substitutions + ["D"] * deletions + ["I"] * insertions
        # Variants keep a distance from each other and from the ends.
        room = max(1, (len(reference) - 400) // max(1, len(kinds)))
        slots = sorted(rng.sample(range(max(1, (len(reference) - 400) // room)), len(kinds)))
        places = [200 + slot * room + rng.randrange(max(1, room - 60)) for slot in slots]
        rng.shuffle(kinds)
        self.variants, pieces, at, letters = [], [], 0, 0
        self.borders = []  # Begin of each piece: in the donor, and in the reference.

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
        """The position in the reference of a position in the donor."""
        donor, reference = self.borders[bisect.bisect_right(self.starts, at) - 1]
        return reference + at - donor


def spoil(letters, errors, indels, rng):
    """A read with substitutions, and rarely with a deleted or an inserted base."""
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


def numbers(text):
    return tuple(map(float, text.split(",")))


def mates(genome, prefix, *, pairs: int = 200_000, seed: int = 1, length: int = 150, insert: numbers = (350.0, 50.0),
          errors: float = 0.005, indels: float = 0.01, substitutions: int = 0, deletions: int = 0, insertions: int = 0):
    """Pairs of reads of GENOME (FASTA): PREFIX_1.fq, PREFIX_2.fq, and the variants in PREFIX.vcf.

    The names of the reads give their origin for the command judge:
    NUMBER!REFERENCE!START1!END1!STRAND1!START2!END2!STRAND2, 0-based and half-open on the reference. --errors is the
    share of substituted bases, --indels the share of reads with one base deleted or inserted. The options substitutions,
    deletions and insertions are numbers of variants of each reference. The same arguments give the same reads.
    """
    rng = random.Random(seed)
    mean, deviation = insert
    donors = [(name, Donor(bases, substitutions, deletions, insertions, rng)) for name, bases in fasta(genome)]
    weights = [len(donor.letters) for _, donor in donors]
    with open(prefix + ".vcf", "w") as vcf:
        vcf.write("##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n")
        for name, donor in donors:
            for at, old, new in donor.variants:
                vcf.write(f"{name}\t{at + 1}\t.\t{old}\t{new}\t.\t.\t.\n")
    with open(prefix + "_1.fq", "w") as first, open(prefix + "_2.fq", "w") as second:
        for number in range(pairs):
            name, donor = donors[0] if len(donors) == 1 else rng.choices(donors, weights)[0]
            while True:
                size = max(length + 1, round(rng.gauss(mean, deviation)))
                if size + 2 <= len(donor.letters):
                    break
            start = rng.randrange(len(donor.letters) - size - 1)
            left = (start, start + length, "+")
            right = (start + size - length, start + size, "-")
            sides = (left, right) if rng.random() < 0.5 else (right, left)
            told = "!".join(f"{donor.place(at)}!{donor.place(end - 1) + 1}!{strand}" for at, end, strand in sides)
            for out, mate, (at, end, strand) in zip((first, second), (1, 2), sides):
                # Takes one more base, in case an error deletes one.
                bases = donor.letters[at:end + 1] if strand == "+" else reverse_complement(donor.letters[max(at - 1, 0):end])
                bases, qualities = spoil(bases, errors, indels, rng)
                out.write(fastq(f"{number}!{name}!{told}/{mate}", bases[:length], qualities[:length]))


def judge(sam):
    """A table of the reads and the wrong reads of a SAM file by mapping quality; `-` is stdin.

    A primary record is wrong if it overlaps less than half of its read's true stretch, or is on the other strand.
    """
    by_quality = [[0, 0] for _ in range(256)]
    reads = proper = unmapped = 0
    with opened(sam) as lines:
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
            shared = min(end, pos + target_len(cigar)) - max(start, pos)
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


def repeats(bases: int, seed: int):
    """A made genome, rich in repeats, on stdout: families of repeats of 200 to 5,000 bases in random bases.

    A family has 2 to 40 copies that differ in 0 to 15 % of their bases.
    """
    rng = random.Random(seed)
    pieces, total = [], 0

    def drawn(count):
        return "".join(rng.choices("ACGT", k=count))

    def copy(family, apart):
        return "".join(rng.choice("ACGT") if rng.random() < apart else base for base in family)

    families = []
    while total < bases:
        if not families or rng.random() < 0.15:
            families.append((drawn(rng.choice([200, 300, 500, 1000, 1500, 5000])), rng.choice([0, 0.001, 0.005, 0.02, 0.05, 0.15])))
        family, apart = rng.choice(families[-20:])
        piece = drawn(rng.randrange(100, 3000)) + copy(family, apart)
        if rng.random() < 0.02:
            unit = drawn(rng.choice([3, 7, 30, 170]))
            piece += unit * rng.randrange(5, 30)
        pieces.append(piece)
        total += len(piece)
    genome = "".join(pieces)[:bases]
    print(">made")
    for at in range(0, len(genome), 100):
        print(genome[at:at + 100])


def short_read(genome, rng):
    start = rng.randrange(len(genome) - 151)
    bases = list(genome[start:start + 151])
    if rng.random() < 0.05:
        place = rng.randrange(5, 145)
        if rng.random() < 0.5:
            del bases[place]
        else:
            bases.insert(place, rng.choice("ACGT"))
    return "".join(rng.choice("ACGT") if rng.random() < 0.015 else base for base in bases[:150])


def long_read(genome, rng, length, errors):
    start = rng.randrange(len(genome) - length)
    end, pieces = start + length, []
    while True:
        # The number of bases up to the next error.
        right = min(int(math.log(1 - rng.random()) / math.log(1 - errors)), end - start)
        pieces.append(genome[start:start + right])
        start += right
        if start >= end:
            return "".join(pieces)
        kind = rng.random()
        if kind < 0.4:
            pieces.append(rng.choice("ACGT".replace(genome[start], "")))
        elif kind >= 0.8:
            pieces.append(genome[start] + rng.choice("ACGT"))
        start += 1


def reads(genome, count: int, seed: int, length: int = None, errors: float = None):
    """Reads of both strands of the longest sequence of GENOME (FASTA), on stdout.

    Without LENGTH, reads have 150 bases, of which 1.5 % are drawn anew, and 5 % of the reads have one base deleted or
    inserted. Long reads consist of LENGTH bases of the genome and have errors in the share ERRORS of these, such as
    0.02: of ten errors, as in reads of Nanopore's current chemistry, four are substitutions, four deletions, and two
    insertions. The same arguments give the same reads.
    """
    genome, rng = max((sequence for _, sequence in fasta(genome)), key=len), random.Random(seed)
    for number in range(count):
        bases = long_read(genome, rng, length, errors) if length else short_read(genome, rng)
        sys.stdout.write(fastq(f"r{number}", reverse_complement(bases) if rng.random() < 0.5 else bases))
