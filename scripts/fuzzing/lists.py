"""Lists of hits (--format tab, json and text) by "Lists of hits" in docs/output.md, and cases of them.

E-values and bit scores are not computed here: `list_checks` holds them against each other and against the scores.
"""

import gzip
import random
import re
from fractions import Fraction

from . import modes, reference
from .limits import let_in, percent
from .reference import NEVER, differences, reverse_complement, runs, taken

NUMBERS = "qlen slen qstart qend sstart send score length nident mismatch positive gapopen gaps qframe sframe mate".split()
NAMES = "qseqid qaccver qacc sseqid saccver sacc qseq sseq pident ppos btop stitle salltitles sstrand qcovs qcovhsp strand"
COLUMNS = [*NUMBERS, *NAMES.split(), "cigar", *(f"id{n}" for n in range(5)), "evalue", "bitscore"]
STD = "qaccver saccver pident length mismatch gapopen qstart qend sstart send evalue bitscore".split()


def shown(share, digits):
    return f"{float(share):.{digits}f}"


class Hit:
    """A hit as a list shows it: the query forward, the target as its reverse complement where the hit is reverse."""

    def __init__(self, record, target, scoring, hit, mode):
        self.score, self.strand, self.number = hit["score"], hit["strand"], hit["target"]
        self.name, self.letters = record[0], record[1]
        self.target, text, self.title = target
        reverse = hit["strand"] == "-"
        query = scoring.read(reverse_complement(self.letters) if reverse else self.letters)
        kinds, *_ = differences(scoring, query, scoring.read(text), hit)
        self.cigar, self.slen, self.qlen = runs(kinds), len(text), len(self.letters)
        self.query, self.place = taken(hit, self.qlen), hit["place"]
        (i, _), (j, _) = hit["query"], hit["place"]
        read, rows = scoring.read(text), []
        own = self.letters.upper() if scoring.protein else query
        positive = 0
        for kind in kinds:
            q, t = "-" if kind == "D" else own[i], "-" if kind == "I" else read[j]
            positive += kind == "=" or kind == "X" and scoring.score[query[i]][t] > 0
            rows.append((q, t, kind))
            i, j = i + (kind != "D"), j + (kind != "I")
        if reverse:
            rows = [(reverse_complement(q), reverse_complement(t), kind) for q, t, kind in rows[::-1]]
        self.qseq, self.sseq = ("".join(row[at] for row in rows) for at in (0, 1))
        path = "".join(row[2] for row in rows)
        self.columns, self.nident, self.mismatch = len(path), path.count("="), path.count("X")
        self.positive, self.gaps = positive, path.count("I") + path.count("D")
        self.gapopen = len(re.findall("I+|D+", path))
        # In mode global, only the identity over all columns counts gaps at the ends.
        self.inner = len(re.sub("^(I+|D+)|(I+|D+)$", "", path)) if mode == "global" else self.columns
        steps = [q + t if kind != "=" else "=" for q, t, kind in rows]
        self.btop = re.sub("=+", lambda run: str(len(run[0])), "".join(steps)) if "=" in steps else "".join(steps)

    def identity(self, iddef):
        """In percent, as docs/output.md counts it."""
        if iddef == 0:
            return percent(self.nident, min(self.qlen, self.slen))
        if iddef == 3:
            longer = max(self.qlen, self.slen)
            return max(Fraction(0), 100 - percent(self.mismatch + self.gapopen, longer))
        return percent(self.nident, self.inner if iddef == 2 else self.columns)

    def coverage(self):
        return percent(self.query[1] - self.query[0], self.qlen)

    def object(self, iddef):
        """What JSON has of it, but bits and E-value."""
        return {
            "target": self.target, "title": self.title, "target_length": self.slen, "score": self.score,
            "strand": self.strand, "query_start": self.query[0], "query_end": self.query[1],
            "target_start": self.place[0], "target_end": self.place[1], "columns": self.columns,
            "matches": self.nident, "mismatches": self.mismatch, "positives": self.positive, "gaps": self.gaps,
            "gap_openings": self.gapopen, "identity": float(shown(self.identity(iddef), 3)),
            "coverage": float(shown(self.coverage(), 3)), "cigar": self.cigar,
            "query_aligned": self.qseq, "target_aligned": self.sseq,
        }  # fmt: skip

    def fields(self, iddef, of_target, protein):
        """Columns by name, but for E-value and bit score. `of_target` are the listed hits of the target."""
        forward, (left, right) = self.strand == "+", self.place
        first, last = (left + 1, right) if forward else (right, left + 1)
        numbers = [self.qlen, self.slen, self.query[0] + 1, self.query[1], first, last, self.score, self.columns]
        numbers += [self.nident, self.mismatch, self.positive, self.gapopen, self.gaps, int(not protein)]
        numbers += [0 if protein else 1 if forward else -1, 0]
        covered = {at for hit in of_target for at in range(*hit.query)}
        whole = lambda share: str(int(share + Fraction(1, 2)))
        names = [self.name] * 3 + [self.target] * 3 + [self.qseq, self.sseq, shown(self.identity(iddef), 3)]
        names += [shown(percent(self.positive, self.columns), 2), self.btop, self.title, self.title]
        names += ["N/A" if protein else "plus" if forward else "minus", whole(percent(len(covered), self.qlen))]
        names += [whole(self.coverage()), self.strand, self.cigar]
        names += [shown(self.identity(n), 1) for n in range(5)]
        return dict(zip(COLUMNS, [*map(str, numbers), *names]))


def titles(data):
    """The header lines of a FASTA file."""
    text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()
    return [line[1:].strip().replace("\t", " ") for line in text.splitlines() if line.startswith(">")]


def listed(record, targets, scoring, rules):
    """The hits of a query that a list has, in its order. `targets` are (name, letters, title) by number."""
    least, found = rules["min_score"], []
    find = modes.finder(rules["mode"]) if rules["mode"] != "local" else reference.hits
    most = 1 << 30 if rules["min_identity"] or rules["min_coverage"] else rules["max_hsps"]
    for number, (_, letters, _) in targets.items():
        found += find(record[1], [(number, letters)], scoring, rules["strands"], least, lambda _: least, most)
    found.sort(key=reference.locus)
    beside = reference.threshold(found[0]["score"], rules["ppm"], least) if found else 0
    found = [hit for hit in found if hit["score"] >= beside]
    found = [Hit(record, targets[hit["target"]], scoring, hit, rules["mode"]) for hit in found]
    found = [hit for hit in found if hit.identity(rules["iddef"]) >= rules["min_identity"]]
    found = [hit for hit in found if hit.coverage() >= rules["min_coverage"]]
    key = (lambda hit: -hit.identity(rules["iddef"])) if rules["rank"] == "identity" else lambda hit: -hit.score
    return by_target(let_in(found, rules, key, lambda hit: hit.number))


def by_target(hits):
    """Hits in their order, but with all hits of a target next to its first one."""
    numbers = list(dict.fromkeys(hit.number for hit in hits))
    return sorted(hits, key=lambda hit: numbers.index(hit.number))


def make_rules(rng, mode, scoring, is_triangle=False, paired=False):
    """Rules for the reference, and the words for them; of `swalign all` without those that count."""
    rules = {"mode": mode, "min_score": NEVER, "ppm": 0, "max_hits": 1 << 30, "max_targets": 500, "max_hsps": 1}
    rules |= {"rank": "score", "iddef": 2, "ties": False, "min_identity": 0, "min_coverage": 0}
    words = []

    def option(share, name, choices):
        if rng.random() < share:
            value = rng.choice(choices)
            words.extend([f"--{name}", str(value)])
            rules[name.replace("-", "_")] = value

    if mode == "local":
        rules["min_score"] = rng.choice([3, 5, 8, 12, 20]) * scoring.match
        words += ["--min-score", str(rules["min_score"]), "--evalue", "1e12"]
    else:
        option(0.2, "min-score", [1, rng.randint(1, 30 * scoring.match)])
    if not is_triangle:
        if not paired:
            option(0.4, "max-targets", [1, 2, 3])
        option(0.4, "max-hsps", [2, 3, 100])
        option(0.15, "max-hits", [1, 2, 5])
    # The reference computes no E-values. If E-values depend on the target, they sort hits differently from scores.
    has_own_order = mode == "local" and (scoring.protein or is_triangle)
    option(1 if has_own_order else 0.3, "rank", ["identity", "raw"] if has_own_order else ["identity", "identity", "score"])
    option(0.4, "iddef", [0, 1, 2, 3, 4])
    option(0.25, "min-identity", [20, 33.3, 50, 75, 90, 97.5, 100])
    option(0.25, "min-coverage", [10, 33.3, 50, 75, 90, 100])
    if rules["rank"] == "identity" and mode in ("local", "overlap") and not (is_triangle or paired or rules["min_coverage"]):
        # Otherwise the shortest alignments would have the highest identities.
        rules["min_coverage"] = 80
    rules["ties"] = not is_triangle and rng.random() < 0.3
    words += ["--ties"] * rules["ties"]
    if not is_triangle and rng.random() < 0.15:
        ratio = rng.choice(["0.3", "0.8", "1"])
        rules["ppm"] = round(float(ratio) * 1_000_000)
        words += ["--secondary-ratio", ratio]
    for name in ("min_identity", "min_coverage"):
        rules[name] = Fraction(str(rules[name]))
    return rules, words


def make(seed, small=False):
    """The case of a seed: a search or pairs, in any mode, listed."""
    rng = random.Random(seed)
    mode = rng.choice(["local", "local", "local", *modes.MODES])
    made = modes.inputs(rng, mode, 3)
    rules, words = make_rules(rng, mode, made["scoring"], paired=made["paired"])
    rules |= {"strands": made["strands"], "protein": made["protein"]}
    return modes.case_of(rng, made, words, {"rules": rules})


def expected(case):
    """Of each query its name, its letters and its hits."""
    shown = titles(case.files[case.words[-1]])
    every = dict(enumerate((*target, title) for target, title in zip(case.targets, shown)))
    for at, record in enumerate(case.queries):
        targets = {at: every[at]} if case.reference["paired"] else every
        yield record, listed(record, targets, case.reference["scoring"], case.reference["rules"])
