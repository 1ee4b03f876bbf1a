"""Variants called from the records of swalign, bwa mem and minimap2."""
import os
import pathlib
import random
import subprocess
import tempfile

from sequences import fasta, fastq, reverse_complement

DEPTH, READ, INSERT, SPREAD, ERRORS = 30, 150, 350, 40, 0.004
# A call of an insertion or deletion counts if it is this close, because its position is ambiguous in repeats.
NEAR = 12


def second_haplotype(genome, rng):
    """The haplotype, and its variants: 1-based position and whether it is a substitution."""
    parts, variants, done = [], {}, 0
    place = 200
    while place < len(genome) - 200:
        if "N" not in genome[place - 5:place + 30]:
            kind = rng.random()
            parts.append(genome[done:place])
            if kind < 0.85:
                parts.append(rng.choice([base for base in "ACGT" if base != genome[place]]))
                done = place + 1
            else:
                length = rng.randint(1, 10)
                is_deletion = kind < 0.925
                parts.append(genome[place] + ("" if is_deletion else "".join(rng.choices("ACGT", k=length))))
                done = place + 1 + (length if is_deletion else 0)
            variants[place + 1] = kind < 0.85
        place += rng.randint(100, 500)
    return "".join(parts) + genome[done:], variants


def fragment(haplotype, rng):
    while True:
        length = max(READ, int(rng.gauss(INSERT, SPREAD)))
        start = rng.randrange(len(haplotype) - length)
        if "N" not in haplotype[start:start + length]:
            return haplotype[start:start + length]


def write_reads(folder, haplotypes, rng):
    count = len(haplotypes[0]) * DEPTH // (2 * READ)
    with open(folder / "1.fq", "w") as first, open(folder / "2.fq", "w") as second:
        for number in range(count):
            bases = fragment(haplotypes[number % 2], rng)
            mates = [bases[:READ], reverse_complement(bases[-READ:])]
            rng.shuffle(mates)
            for file, mate in zip((first, second), mates):
                read = "".join(rng.choice("ACGT") if rng.random() < ERRORS else base for base in mate)
                file.write(fastq(f"r{number}", read, "F"))


def calls(folder, command):
    """The called variants: position, whether each is a substitution, and its share of reads."""
    mapped = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    quiet = {"cwd": folder, "stderr": subprocess.DEVNULL, "check": True}
    subprocess.run(["samtools", "sort", "-o", "sorted.bam", "-"], input=mapped, **quiet)
    subprocess.run(["samtools", "index", "sorted.bam"], **quiet)
    pileup = ["bcftools", "mpileup", "-Q", "13", "-q", "20", "-a", "AD", "-f", "genome.fa", "-Ou", "sorted.bam"]
    piled = subprocess.run(pileup, stdout=subprocess.PIPE, **quiet).stdout
    found = subprocess.run(["bcftools", "call", "-mv", "-Ov"], input=piled, stdout=subprocess.PIPE, **quiet).stdout
    for line in found.decode().splitlines():
        if line.startswith("#"):
            continue
        _, place, _, _, _, _, _, info, keys, values = line.split("\t")
        depths = dict(zip(keys.split(":"), values.split(":")))["AD"].split(",")
        yield int(place), "INDEL" not in info, int(depths[1]) / max(1, sum(map(int, depths)))


def compared(called, variants):
    found, shares, wrong = set(), [], 0
    for place, is_substitution, share in called:
        reach = 0 if is_substitution else NEAR
        own = [at for at in range(place - reach, place + reach + 1) if variants.get(at) == is_substitution]
        wrong += not own
        found.update(own[:1])
        shares += [share] if own and is_substitution else []
    kinds = [[place for place, kind in variants.items() if kind == of] for of in (True, False)]
    ratios = (f"{sum(place in found for place in places)}/{len(places)}" for places in kinds)
    return [*ratios, str(wrong), f"{sum(shares) / max(1, len(shares)):.4f}"]


def run(swalign, genome):
    """Variants called from the records of swalign, bwa mem and minimap2.

    Makes a second haplotype of the first sequence of GENOME (FASTA, plain or gzip) with a variant every 100 to 500
    bases: 85 % substitutions, 15 % insertions and deletions of 1 to 10 bases. Draws pairs of 2 x 150 bases from both
    haplotypes (30-fold, insert size 350 +- 40, 0.4 % of the bases drawn anew). Maps them with each program, and calls
    variants with bcftools. Prints the number of variants found, the number of false calls, and the mean share of reads
    with the alternative allele at the substitutions found; one half is right. The same genome gives the same reads.
    Needs bwa, minimap2, samtools and bcftools.
    """
    rng, swalign = random.Random(7), os.path.realpath(swalign)
    sequence = fasta(genome)[0][1]
    other, variants = second_haplotype(sequence, rng)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "genome.fa").write_text(f">genome\n{sequence}\n")
        write_reads(folder, (sequence, other), rng)
        for command in (["samtools", "faidx", "genome.fa"], ["bwa", "index", "genome.fa"]):
            subprocess.run(command, cwd=folder, stderr=subprocess.DEVNULL, check=True)
        own = [swalign, "--quiet", "--device", "cpu", "-x", "sr"]
        programs = {
            "swalign -x sr": [*own, "1.fq", "2.fq", "genome.fa"],
            "swalign -x sr --end-bonus 0": [*own, "--end-bonus", "0", "1.fq", "2.fq", "genome.fa"],
            "bwa mem": ["bwa", "mem", "genome.fa", "1.fq", "2.fq"],
            "minimap2 -x sr": ["minimap2", "-ax", "sr", "genome.fa", "1.fq", "2.fq"],
        }
        print("program", "substitutions", "insertions and deletions", "false", "share of reads", sep="\t")
        for name, command in programs.items():
            print(name, *compared(calls(folder, command), variants), sep="\t", flush=True)
