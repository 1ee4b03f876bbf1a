"""Cases of `swalign audit`: records of reads, right ones and damaged ones, and the rows that they must have, from
docs/guide/audit.md."""

import random
import re

from .cases import Case, fasta, make_query, make_scoring, make_targets, rearranged, with_second_gap
from .program import Difference, compare_bytes, compare_lines, part_of, perhaps_database, way
from .reference import path_score, reverse_complement, runs, search

HEADER = ["read", "mate", "verdict", "reference", "position", "strand", "mapq", "score", "optimum", "optimum_reference",
          "optimum_position", "optimum_strand", "optimum_cigar", "tier"]  # fmt: skip
UNMAPPED, REVERSE, SECONDARY, SUPPLEMENTARY = 4, 16, 256, 2048
TIE_MAPQ, UNKNOWN_MAPQ = 3, 255
CELLS = 60_000


class Record:
    """A line of SAM. `bases` are those of the read, on the strand of the record."""

    def __init__(self, name, flags, reference, position, mapq, cigar, bases):
        self.name, self.flags, self.reference, self.position = name, flags, reference, position
        self.mapq, self.cigar, self.bases = mapq, cigar, bases

    def line(self, with_bases=True):
        inner = len(self.bases) - sum(int(n) for n in re.findall(r"(\d+)H", self.cigar))
        first = re.match(r"(\d+)H", self.cigar)
        start = int(first[1]) if first else 0
        bases = self.bases[start : start + inner] if with_bases and inner > 0 else "*"
        fields = self.name, self.flags, self.reference, self.position, self.mapq, self.cigar, "*", 0, 0, bases, "*"
        return "\t".join(map(str, fields))

    def claim(self, targets, scoring):
        """What the record says: a kind and, of an alignment, its score, and its letters and columns."""
        if self.flags & UNMAPPED:
            return {"kind": "unmapped"}
        if self.reference == "*" or self.position == 0:
            return {"kind": "invalid"}
        if self.cigar == "*":
            return {"kind": "unscored"}
        runs_of = re.findall(r"(\d+)(\D)", self.cigar)
        clip = lambda ends: sum(int(n) for n, kind in ends if kind in "SH")
        path = "".join("M" * int(n) if kind in "M=X" else kind.replace("N", "D") * int(n) for n, kind in runs_of if kind not in "SHP")
        inner = [at for at, (_, kind) in enumerate(runs_of) if kind not in "SH"]
        before, after = clip(runs_of[: inner[0]]), clip(runs_of[inner[-1] + 1 :])
        taken, is_cut = len(path) - path.count("D"), clip(runs_of[inner[0] : inner[-1]]) > 0
        if "M" not in path or is_cut or before + taken + after != len(self.bases):
            return {"kind": "invalid"}
        start, columns = self.position - 1, len(path) - path.count("I")
        if self.reference not in targets or start + columns > len(targets[self.reference]):
            return {"kind": "outside"}
        hit = {"query": (before, before + taken), "place": (start, start + columns), "path": path}
        score = path_score(scoring, scoring.read(self.bases), scoring.read(targets[self.reference]), hit)
        return hit | {"kind": "aligned", "score": score, "strand": self.strand(), "target": self.reference}

    def strand(self):
        return "-" if self.flags & REVERSE else "+"


def cigar(path, query, length, clips="S"):
    clip = lambda n: f"{n}{clips}" if n else ""
    return clip(query[0]) + runs(path) + clip(length - query[1])


def shown_hit(rng, hit):
    """A path of a hit, in a record perhaps without its ends, at another position, or with a gap more."""
    path, (i, end), (j, _), kind = hit["path"], hit["query"], hit["place"], rng.random()
    if kind < 0.15:
        path = path.rstrip("ID")
    elif kind < 0.4 and len(path) > 1:
        cut = rng.randrange(1, len(path))
        left = path[:cut]
        i, j, path = i + len(left) - left.count("D"), j + len(left) - left.count("I"), path[cut:]
        if rng.random() < 0.5:
            i, j, path = *hit["query"][:1], *hit["place"][:1], left
    elif kind < 0.5:
        j = max(0, j + rng.choice([-2, -1, 1, 2, 50]))
    elif kind < 0.6:
        at = rng.randrange(len(path) + 1)
        path = path[:at] + "D" * rng.choice([1, 1, 2, 9]) + path[at:]
    return path, (i, i + len(path) - path.count("D")), j


def make_record(rng, name, letters, hits, targets, is_further):
    """A record of a read: of one of its hits, changed or not, or of any position."""
    names, kind, mapq = list(targets), rng.random(), rng.choice([0, 3, 4, 30, 60, 60, 255])
    flags = SUPPLEMENTARY * is_further
    if kind < 0.1 and not is_further:
        return Record(name, UNMAPPED, "*", 0, 0, "*", letters)
    if hits and kind < 0.8:
        hit = rng.choice(hits)
        strand, reference = hit["strand"], names[hit["target"]]
        path, query, start = shown_hit(rng, hit)
    else:
        strand, reference = rng.choice("+-"), rng.choice(names)
        size = rng.randint(1, len(letters))
        path, query = "M" * size, (0, size)
        start = rng.randint(0, len(targets[reference]))
    bases = reverse_complement(letters) if strand == "-" else letters
    text = cigar(path, query, len(letters), rng.choice("SH") if is_further else "S")
    damage = rng.random()
    if damage < 0.03:
        text += "1M"
    elif damage < 0.06:
        reference = "elsewhere"
    elif damage < 0.09:
        text = "*"
    elif damage < 0.11:
        start = -1
    return Record(name, flags | REVERSE * (strand == "-"), reference, start + 1, mapq, text, bases)


def make(seed):
    """The case of a seed."""
    rng = random.Random(seed)
    scoring, words, files = make_scoring(rng, False, True)
    if "--matrix" not in words and scoring.extend > 1 and scoring.open < 1 << 19 and rng.random() < 0.3:
        words = with_second_gap(rng, scoring, words)
    texts = make_targets(rng, list("ACGT"), False, rng.choice([60, 200, 500]))
    pool = [text.upper() for text in texts]
    if rng.random() < 0.5:
        copy = rng.choice(pool)
        texts, pool = [*texts, copy], [*pool, copy]
    targets = {f"t{at}": text for at, text in enumerate(texts)}
    row, queries = 2 * sum(map(len, pool)), []
    while sum(map(len, queries)) * row < CELLS and len(queries) < 12:
        make_read = rearranged if rng.random() < 0.2 else make_query
        letters = make_read(rng, list("ACGT"), False, pool, min(200, max(1, CELLS // row)))
        queries += [scoring.shown(letters)] * bool(letters)
    min_score = max(1, scoring.match * rng.choice([1, 5, 10, 20]))
    rules = {"strands": "+-", "min_score": min_score, "ppm": 0, "max_hits": 3, "circles": []}
    numbered = dict(enumerate(targets.items()))
    records, expected = [], []
    for at, letters in enumerate(queries):
        name, found = f"r{at}", search(letters, numbered, scoring, rules)
        own = [make_record(rng, name, letters, found["hits"], targets, further) for further in [False] + [True] * rng.choice([0, 0, 1, 2])]
        if rng.random() < 0.2:
            own = own[::-1]
        # The primary record comes first, wherever it is in the file.
        judged = sorted(own, key=lambda record: record.flags & SUPPLEMENTARY)
        expected.append("\t".join(map(str, row_of(letters, judged, found, targets, scoring, min_score))))
        if rng.random() < 0.2:
            own.append(make_record(rng, name, letters, found["hits"], targets, False))
            own[-1].flags |= SECONDARY
        records += own
    files |= {
        "x.sam": "".join(f"{record.line()}\n" for record in records).encode(),
        "bare.sam": "".join(f"{record.line(False)}\n" for record in records).encode(),
        "q.fa": "".join(f">r{at}\n{letters}\n" for at, letters in enumerate(queries)).encode(),
        "t.fa": fasta(rng, list(targets.items())),
    }
    words = [*words, "--min-score", str(min_score), "--alphabet", "dna"]
    case = Case(["audit", "-q", "--every", *words, "x.sam", "t.fa"], queries, list(targets.items()), files)
    case.reference = {"scoring": scoring, "rows": ["#" + "\t".join(HEADER), *expected], "scoring words": words}
    return case


def row_of(letters, records, found, targets, scoring, min_score):
    """The cells of a row."""
    claims = [(record, record.claim(targets, scoring)) for record in records]
    rank = {"unmapped": 0, "unscored": 1, "aligned": 2, "outside": 3, "invalid": 3}
    record, claim = max(claims, key=lambda both: (rank[both[1]["kind"]], both[1].get("score", 0)))
    best = found["hits"][0] if found["hits"] else None
    verdict = verdict_of(record, claim, best, found["second"], list(targets), min_score)
    place = ["*"] * 4 if record.flags & UNMAPPED else [record.reference, record.position, record.strand(), record.mapq]
    optimum = ["*"] * 6
    if best:
        names = list(targets)
        path = cigar(best["path"], best["query"], len(letters))
        optimum = [best["score"], names[best["target"]], best["place"][0] + 1, best["strand"], path, "proven"]
    return [record.name, "*", verdict, *place, claim.get("score", "*"), *optimum]


def verdict_of(record, claim, best, second, names, min_score):
    if claim["kind"] == "unmapped":
        return "missed" if best else "unmapped"
    if claim["kind"] != "aligned":
        return claim["kind"]
    score = claim["score"]
    if not best:
        return "low" if score < min_score else "above"
    if score >= best["score"]:
        is_tied = second and second["score"] == best["score"]
        is_shown = TIE_MAPQ < record.mapq < UNKNOWN_MAPQ
        return "above" if score > best["score"] else "tie" if is_tied and is_shown else "equal"
    length = lambda hit: hit["query"][1] - hit["query"][0]
    same = (names[best["target"]], best["strand"]) == (claim["target"], claim["strand"])
    overlaps = same and best["place"][0] < claim["place"][1] and claim["place"][0] < best["place"][1]
    return "clipped" if overlaps and length(best) > length(claim) else "below"


def check(program, rng, case):
    expected = case.reference["rows"]
    case.reference["expected"] = "".join(f"{line}\n" for line in expected)
    got = program.run(case.words)
    compare_lines(case.words, expected, got.decode().splitlines())
    files = rng.choice([["x.sam"], ["--reads", "q.fa", "bare.sam"]])
    words = [*case.words[:-2], *way(rng, program, case.words, True), *files, case.words[-1]]
    with perhaps_database(rng, program, case) as before:
        compare_bytes([*before, *words], got, program.run(words))
        if rng.random() < 0.3:
            part_of(program, rng, case, words, "--part", "tsv", got)
    # The aligner's own records are optimal.
    split = rng.choice(["--split", "--no-split"])
    align = ["-q", *case.reference["scoring words"], split, "-o", "own.bam", "q.fa", "t.fa"]
    program.run(align)
    words = [*case.words[:-2], "own.bam", "t.fa"]
    rows = [line.split("\t") for line in program.run(words).decode().splitlines()[1:]]
    if wrong := [row for row in rows if row[2] not in ("equal", "tie", "unmapped")]:
        raise Difference(words, f"a record of swalign is {wrong[0][2]}: {' '.join(wrong[0])}")
    if len(rows) != len(case.queries):
        raise Difference(words, f"{len(case.queries)} rows expected, {len(rows)} found")
