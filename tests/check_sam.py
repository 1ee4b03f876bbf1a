#!/usr/bin/env python3
"""Checks a SAM file of swalign against the query and reference that it was made from.

    check_sam.py SAM QUERY REFERENCE [--pairs]

Reads SAM as text, recomputes NM, MD, AS and the orientation of SEQ and QUAL, and compares the fields with those that
pysam reads. Prints the first ten faults and exits with 1, or prints counts and 'ok'.
"""

import argparse
import re
import sys
from collections import Counter

import pysam

MOST_FAULTS = 10
REVERSE, UNMAPPED, SECONDARY, SUPPLEMENTARY = 0x10, 0x4, 0x100, 0x800
FURTHER = SECONDARY | SUPPLEMENTARY
COMPLEMENT = str.maketrans("ACGTRYSWKMBDHVN", "TGCAYRSWMKVHDBN")
CIGAR = re.compile(r"(\d+)([MIDNSHP=X])")
MD = re.compile(r"[0-9]+(([A-Z]|\^[A-Z]+)[0-9]+)*")
# The bases that each code stands for.
BASES = dict(zip("ACGTRYSWKMBDHVN", "A C G T AG CT CG AT GT AC CGT AGT ACT ACG ACGT".split()))
TAG_TYPES = {"NM": "i", "MD": "Z", "AS": "i", "XS": "i", "ya": "i", "SA": "Z", "RG": "Z"}


class Faults:
    """Gathers faults, and ends the program when there are enough."""

    def __init__(self):
        self.count = 0

    def add(self, where, what):
        print(f"{where}: {what}")
        self.count += 1
        if self.count >= MOST_FAULTS:
            print("too many faults, stopped")
            sys.exit(1)


def read_sequences(path):
    """Name, residues, and qualities or None of every record of a FASTA or FASTQ file, plain or gzip."""
    with pysam.FastxFile(path) as records:
        return [(record.name or "", record.sequence or "", record.quality) for record in records]


class Scheme:
    """Alphabet and scoring, as the header states them."""

    def __init__(self, comments):
        text = " ".join(comments)
        values = dict(re.findall(r"(\w+)=([^\s;]+)", text))
        self.dna = values.get("alphabet") == "DNA"
        self.scores = None
        if "match" in values:
            self.scores = int(values["match"]), int(values["mismatch"])
            self.ambiguous = int(values.get("ambiguous", values["mismatch"]))
            self.iupac = " iupac " in text
        # One cost of opening and one of each residue for each piece.
        self.pieces = [tuple(map(int, piece)) for piece in zip(*(values[name].split(",") for name in ("gap_open", "gap_extend")))]
        self.min_score = int(values["min_score"])
        self.ratio = float(values["secondary_ratio"])

    def gap(self, length):
        """The cost of a gap."""
        return min(gap_open + length * gap_extend for gap_open, gap_extend in self.pieces)

    def pair(self, query, target):
        """The score of two residues without a matrix."""
        match, mismatch = self.scores or (0, 0)
        if query in "ACGT" and target in "ACGT":
            return match if query == target else -mismatch
        if not self.scores or not self.iupac:
            return -self.ambiguous if self.scores else 0
        return match if set(BASES[query]) & set(BASES[target]) else -mismatch

    def normal(self, letters):
        """Letters as they are aligned."""
        letters = letters.upper()
        return letters.replace("U", "T") if self.dna else letters

    def equal(self, query, target):
        return query == target and (not self.dna or query in "ACGT")

    def shown(self, letter):
        """A target's letter in MD, a query's in SEQ: SAM has no stop."""
        return "X" if letter == "*" else letter


class Line:
    """The fields of one record."""

    def __init__(self, text):
        fields = text.split("\t")
        self.name, self.flag, self.target = fields[0], int(fields[1]), fields[2]
        self.start, self.mapq, self.cigar_text = int(fields[3]) - 1, int(fields[4]), fields[5]
        self.mate = fields[6:9]
        # Of the path, once it was walked.
        self.score = None
        self.seq, self.qual = fields[9], fields[10]
        self.tags = [tag.split(":", 2) for tag in fields[11:]]
        self.values = {name: value for name, _, value in self.tags}
        self.cigar = [(int(length), kind) for length, kind in CIGAR.findall(self.cigar_text)]

    def has(self, flag):
        return self.flag & flag != 0

    def span(self, kinds):
        return sum(length for length, kind in self.cigar if kind in kinds)

    def end(self):
        return self.start + self.span("MD=X")


class Checker:
    def __init__(self, header, queries, targets, pairs, faults):
        self.scheme = Scheme([line for line in header if line.startswith("@CO")])
        normal = self.scheme.normal
        self.queries = [(name, normal(letters), qualities) for name, letters, qualities in queries]
        self.targets = {name: normal(letters) for name, letters, _ in targets}
        self.target_names = [name for name, _, _ in targets]
        self.pairs = pairs
        self.faults = faults
        self.counts = Counter()
        self.read_group = None
        self.check_header(header)

    def check_header(self, header):
        fault = lambda what: self.faults.add("header", what)
        kinds = [line[:3] for line in header]
        if not header or not re.fullmatch(r"@HD\tVN:1\.6\t(SO:unsorted|GO:query)", header[0]):
            fault("the first line is no @HD that suits")
        sequences = [line.split("\t")[1:] for line in header if line.startswith("@SQ\t")]
        expected = [[f"SN:{name}", f"LN:{len(self.targets[name])}"] for name in self.target_names]
        if [fields[:2] for fields in sequences] != expected:
            fault("@SQ lines differ from the reference")
        program = [line for line in header if line.startswith("@PG\t")]
        if len(program) != 1 or not all(f"\t{tag}:" in program[0] for tag in ("ID", "PN", "VN", "CL")):
            fault("no single @PG with ID, PN, VN and CL")
        if kinds.count("@RG") > 1:
            fault("more than one @RG")
        for line in header:
            if line.startswith("@RG\t"):
                self.read_group = dict(field.split(":", 1) for field in line.split("\t")[1:])["ID"]

    def check_query(self, number, lines):
        """All records of one query: the first primary or unmapped, the others supplementary, then secondary."""
        name, letters, qualities = self.queries[number]
        where = f"query {number + 1} '{name}'"
        self.counts["queries"] += 1
        for place, line in enumerate(lines):
            fault = lambda what, line=line: self.faults.add(f"{where}, {line.target}:{line.start + 1}", what)
            self.counts["records"] += 1
            if line.name != (name or "*"):
                fault(f"the name is '{line.name}': records are missing or out of order")
            if line.has(FURTHER) != (place > 0):
                fault("not one primary record")
            if line.flag & ~(REVERSE | UNMAPPED | FURTHER) or line.flag & FURTHER == FURTHER:
                fault(f"flag {line.flag} has bits that nothing sets")
            if line.mate != ["*", "0", "0"]:
                fault("mate fields are set")
            self.check_tags(line, fault)
            if line.has(UNMAPPED):
                self.check_unmapped(line, letters, qualities, fault)
                if len(lines) > 1:
                    fault("an unmapped query has secondary records")
            else:
                self.check_mapped(line, number, letters, qualities, fault)
        self.check_scores(lines, lambda what: self.faults.add(where, what))
        self.check_split(lines, len(letters), lambda what: self.faults.add(where, what))
        lines = [line for line in lines if not line.has(SUPPLEMENTARY)]
        self.check_together(lines, lambda what: self.faults.add(where, what))

    def check_scores(self, lines, fault):
        """AS is the score of the path. Two pieces of a hit across the origin of a circle both have that of the whole hit, of
        which a gap at the origin is in neither."""

        def joined(one, other):
            same = lambda line: (line.target, line.flag & REVERSE, line.values.get("AS"))
            clip = lambda line, end: line.cigar[end][0] if line.cigar[end][1] == "S" else 0
            deleted = len(self.targets[one.target]) - one.end() + other.start
            inserted = clip(other, 0) - (one.span("MIS=X") - clip(one, -1))
            if same(one) != same(other) or inserted < 0:
                return None
            costs = [self.scheme.gap(length) for length in (deleted, inserted) if length]
            return one.score + other.score - sum(costs)

        for line in lines:
            told = int(line.values.get("AS") or 0)
            if line.score in (None, told):
                continue
            others = [other for other in lines if other.score is not None and other is not line]
            if all(told not in (joined(line, other), joined(other, line)) for other in others):
                fault(f"AS {told}, expected {line.score}")

    def check_split(self, lines, letters, fault):
        """What records of a split query say of each other, and that no two take one letter."""
        parts = [line for line in lines if not line.has(SECONDARY | UNMAPPED)]

        def element(line):
            strand = "-" if line.has(REVERSE) else "+"
            return f"{line.target},{line.start + 1},{strand},{line.cigar_text},{line.mapq},{line.values.get('NM')};"

        def taken(line):
            clips = [length if kind == "S" else 0 for length, kind in (line.cigar[0], line.cigar[-1])]
            start, end = clips[0], letters - clips[1]
            return (letters - end, letters - start) if line.has(REVERSE) else (start, end)

        for line in lines:
            others = "".join(element(other) for other in parts if other is not line)
            if line.values.get("SA", "") != (others if line in parts else ""):
                fault(f"SA is {line.values.get('SA')}, expected {others}")
        places = sorted(taken(line) for line in parts if line.cigar)
        if any(b[0] < a[1] for a, b in zip(places, places[1:])):
            fault("two parts of the query take one letter")

    def check_tags(self, line, fault):
        names = [tag[0] for tag in line.tags]
        if len(names) != len(set(names)):
            fault("a tag stands twice")
        for name, kind, _ in line.tags:
            if TAG_TYPES.get(name) != kind:
                fault(f"tag {name}:{kind} is unknown")
        if names != [name for name in TAG_TYPES if name in names]:
            fault(f"tags out of order: {names}")
        if line.values.get("RG") != self.read_group:
            fault("the read group is not the header's")
        if "XS" in names and line.flag & (SECONDARY | UNMAPPED):
            fault("XS stands beside the primary")

    def shown(self, letters):
        return "".join(map(self.scheme.shown, letters)) or "*"

    def check_unmapped(self, line, letters, qualities, fault):
        self.counts["unmapped"] += 1
        if (line.flag, line.target, line.start, line.mapq, line.cigar_text) != (UNMAPPED, "*", -1, 0, "*"):
            fault("an unmapped record has a place")
        if set(line.values) - {"RG"}:
            fault("an unmapped record has tags of an alignment")
        if line.seq != self.shown(letters) or line.qual != (qualities or "*"):
            fault("SEQ or QUAL differ from the query")

    def check_mapped(self, line, number, letters, qualities, fault):
        if line.target not in self.targets:
            return fault("no such reference")
        if self.pairs and line.target != self.target_names[number]:
            fault("not the reference of this pair")
        self.counts["secondary" if line.has(SECONDARY) else "primary"] += 1
        if line.has(REVERSE):
            self.counts["reverse"] += 1
            letters = letters.translate(COMPLEMENT)[::-1]
            qualities = qualities and qualities[::-1]
            if not self.scheme.dna:
                fault("a protein on the reverse strand")
        if line.has(SECONDARY):
            if (line.seq, line.qual, line.mapq) != ("*", "*", 0):
                fault("a secondary record has SEQ, QUAL or MAPQ")
        elif line.seq != self.shown(letters) or line.qual != (qualities or "*"):
            fault("SEQ or QUAL are not the query in this orientation")
        if not 0 <= line.mapq <= 60:
            fault(f"MAPQ {line.mapq}")
        if self.check_cigar(line, letters, fault):
            self.check_alignment(line, letters, fault)

    def check_cigar(self, line, letters, fault):
        """Whether the CIGAR fits both sequences, so that its letters can be looked at."""
        kinds = [kind for _, kind in line.cigar]
        inner = [kind for kind in kinds if kind != "S"]
        if "".join(f"{length}{kind}" for length, kind in line.cigar) != line.cigar_text:
            fault(f"CIGAR {line.cigar_text} is malformed")
        if set(kinds) - set("MIDS=X") or "S" in kinds[1:-1] or not inner:
            fault(f"CIGAR {line.cigar_text} has operations out of place")
        elif inner[0] in "DI" or inner[-1] in "DI":
            fault(f"CIGAR {line.cigar_text} has a gap at an end")
        if any(a == b for a, b in zip(kinds, kinds[1:])) or any(length == 0 for length, _ in line.cigar):
            fault(f"CIGAR {line.cigar_text} has equal neighbours or empty operations")
        if line.span("MIS=X") != len(letters):
            fault(f"CIGAR {line.cigar_text} does not consume the {len(letters)} letters of the query")
            return False
        if line.start < 0 or line.end() > len(self.targets[line.target]):
            fault("reaches outside of its reference")
            return False
        return True

    def check_alignment(self, line, letters, fault):
        edits, md, score = self.walk(line, letters, fault)
        if line.values.get("NM") != str(edits):
            fault(f"NM {line.values.get('NM')}, expected {edits}")
        if line.values.get("MD") != md or not MD.fullmatch(md):
            fault(f"MD {line.values.get('MD')}, expected {md}")
        if not re.fullmatch(r"[1-9][0-9]*", line.values.get("AS", "")):
            return fault("no positive AS")
        line.score = score

    def walk(self, line, letters, fault):
        """NM, MD and the score (None with a matrix), from the path and both sequences."""
        target = self.targets[line.target]
        i, j = 0, line.start
        edits, equals, score, md = 0, 0, 0, []
        for length, kind in line.cigar:
            if kind == "S":
                i += length
            elif kind == "I":
                i, edits, score = i + length, edits + length, score - self.scheme.gap(length)
            elif kind == "D":
                md += [str(equals), "^", self.shown(target[j : j + length])]
                equals = 0
                j, edits, score = j + length, edits + length, score - self.scheme.gap(length)
            else:
                for step in range(length):
                    equal = self.scheme.equal(letters[i + step], target[j + step])
                    if kind in "=X" and equal != (kind == "="):
                        fault(f"{kind} at reference place {j + step + 1} is wrong")
                    score += self.scheme.pair(letters[i + step], target[j + step])
                    if equal:
                        equals += 1
                    else:
                        md += [str(equals), self.shown(target[j + step])]
                        equals, edits = 0, edits + 1
                i, j = i + length, j + length
        md.append(str(equals))
        return edits, "".join(md), score if self.scheme.scores else None

    def check_together(self, lines, fault):
        lines = [line for line in lines if not line.has(UNMAPPED) and line.values.get("AS", "").isdigit()]
        if not lines:
            return
        scores = [int(line.values["AS"]) for line in lines]
        second = lines[0].values.get("XS")
        if scores != sorted(scores, reverse=True):
            fault(f"scores do not fall: {scores}")
        if min(scores) < self.scheme.min_score or min(scores) < self.scheme.ratio * scores[0] - 1e-6:
            fault(f"a score below what the header states: {scores}")
        if second is not None and int(second) > scores[0]:
            fault(f"XS {second} is above AS {scores[0]}")
        if len(scores) > 1 and second != str(scores[1]):
            fault(f"XS {second} is not the score of the first secondary record, {scores[1]}")
        if second is not None and int(second) == scores[0] and lines[0].mapq != 0:
            fault("MAPQ is not 0 for one of two equal places")
        places = sorted((line.target, line.has(REVERSE), line.start, line.end()) for line in lines)
        if any(a[:2] == b[:2] and b[2] < a[3] for a, b in zip(places, places[1:])):
            fault("two records of one strand overlap")


def read_sam(path):
    with open(path) as file:
        lines = file.read().split("\n")
    if lines.pop() != "":
        sys.exit(f"{path}: the last line has no end")
    header = [line for line in lines if line.startswith("@")]
    if lines[: len(header)] != header:
        sys.exit(f"{path}: a header line, or a name with '@', stands among the records")
    return header, [Line(line) for line in lines[len(header) :]]


def group(lines):
    """Records of one query: a new one begins at every record that is not secondary."""
    groups = []
    for line in lines:
        if line.has(FURTHER) and groups:
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def check_pysam(path, lines, targets, dna, faults):
    """pysam reads the same; SEQ only of DNA, since its 4-bit letters know no proteins."""
    with pysam.AlignmentFile(path, "r") as file:
        records = list(file)
    if len(records) != len(lines):
        faults.add("pysam", f"{len(records)} records of {len(lines)}")
    for line, record in zip(lines, records):
        fault = lambda what, line=line: faults.add(f"pysam, {line.name}", what)
        seen = (record.query_name or "*", record.flag, record.reference_name or "*", record.reference_start)
        if seen != (line.name, line.flag, line.target, line.start):
            fault(f"reads {seen}")
        if (record.cigarstring or "*") != line.cigar_text or record.mapping_quality != line.mapq:
            fault("reads another CIGAR or MAPQ")
        if {name: str(value) for name, value in record.get_tags()} != line.values:
            fault("reads other tags")
        if dna and (record.query_sequence or "*") != line.seq:
            fault("reads another SEQ")
        if dna and not line.has(UNMAPPED) and not line.has(FURTHER):
            if record.get_reference_sequence().upper() != targets[line.target][line.start : line.end()]:
                fault("rebuilds another reference from MD")


def main():
    parser = argparse.ArgumentParser(description="Check swalign's SAM against its inputs.")
    parser.add_argument("sam")
    parser.add_argument("query")
    parser.add_argument("reference")
    parser.add_argument("--pairs", action="store_true", help="the i-th query was aligned to the i-th reference")
    options = parser.parse_args()
    faults = Faults()
    header, lines = read_sam(options.sam)
    queries, targets = read_sequences(options.query), read_sequences(options.reference)
    if options.pairs and len(queries) != len(targets):
        sys.exit(f"--pairs with {len(queries)} queries and {len(targets)} references")
    checker = Checker(header, queries, targets, options.pairs, faults)
    groups = group(lines)
    if len(groups) != len(queries):
        faults.add("file", f"{len(groups)} primary or unmapped records for {len(queries)} queries")
    for number, group_lines in enumerate(groups[: len(queries)]):
        checker.check_query(number, group_lines)
    if not faults.count:
        # pysam aborts on some faulty files, and would take our messages with it.
        check_pysam(options.sam, lines, checker.targets, checker.scheme.dna, faults)
    if faults.count:
        sys.exit(1)
    print(", ".join(f"{count} {name}" for name, count in checker.counts.items()))
    print("ok")


if __name__ == "__main__":
    main()
