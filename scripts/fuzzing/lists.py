"""Lists of hits (--format tab, json and text) by "Lists of hits" in docs/output.md, and cases of them.

E-values and bit scores are not computed here: they are held against each other and against the scores.
"""

import gzip
import json
import random
import re
from fractions import Fraction

from . import modes, reference
from .program import Difference, compare_bytes, compare_lines, part_of, perhaps_database, way
from .reference import NEVER, differences, reverse_complement, runs, taken

NUMBERS = "qlen slen qstart qend sstart send score length nident mismatch positive gapopen gaps qframe sframe mate".split()
NAMES = "qseqid qaccver qacc sseqid saccver sacc qseq sseq pident ppos btop stitle salltitles sstrand qcovs qcovhsp strand"
COLUMNS = [*NUMBERS, *NAMES.split(), "cigar", *(f"id{n}" for n in range(5)), "evalue", "bitscore"]
STD = "qaccver saccver pident length mismatch gapopen qstart qend sstart send evalue bitscore".split()


def percent(part, whole):
    return Fraction(100 * part, whole) if whole else Fraction(0)


def shown(share, digits):
    return f"{float(share):.{digits}f}"


class Hit:
    """A hit as a list shows it: the query forward, the target as its reverse complement where the hit is reverse."""

    def __init__(self, record, target, scoring, hit):
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
        self.gapopen, self.inner = len(re.findall("I+|D+", path)), len(re.sub("^(I+|D+)|(I+|D+)$", "", path))
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


def of_same(hits, one):
    return sum(hit.number == one.number for hit in hits)


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
    found = [Hit(record, targets[hit["target"]], scoring, hit) for hit in found]
    found = [hit for hit in found if hit.identity(rules["iddef"]) >= rules["min_identity"]]
    found = [hit for hit in found if hit.coverage() >= rules["min_coverage"]]
    key = (lambda hit: -hit.identity(rules["iddef"])) if rules["rank"] == "identity" else lambda hit: -hit.score
    found = [hit for at, hit in enumerate(found) if of_same(found[:at], hit) < rules["max_hsps"]]
    chosen, of = [], {}
    for hit in sorted(found, key=key):
        beyond = len(chosen) >= rules["max_hits"] or hit.number not in of and len(of) >= rules["max_targets"]
        if beyond and not (rules["ties"] and key(hit) == key(chosen[-1])):
            continue
        chosen.append(hit)
        of.setdefault(hit.number, []).append(hit)
    return chosen


def make_rules(rng, mode, scoring):
    """Rules for the reference, and the words for them."""
    rules = {"mode": mode, "min_score": NEVER, "ppm": 0, "max_hits": 1 << 30, "max_targets": 25, "max_hsps": 1}
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
    option(0.4, "max-targets", [1, 2, 3])
    option(0.4, "max-hsps", [2, 3, 100])
    option(0.15, "max-hits", [1, 2, 5])
    option(0.3, "rank", ["identity", "identity", "score"])
    option(0.4, "iddef", [0, 1, 2, 3, 4])
    option(0.25, "min-identity", [20, 33.3, 50, 75, 90, 97.5, 100])
    option(0.25, "min-coverage", [10, 33.3, 50, 75, 90, 100])
    rules["ties"] = rng.random() < 0.3
    words += ["--ties"] * rules["ties"]
    if rng.random() < 0.15:
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
    rules, words = make_rules(rng, mode, made["scoring"])
    rules |= {"strands": made["strands"], "protein": made["protein"]}
    return modes.case_of(rng, made, words, {"rules": rules})


def expected(case):
    """Of each query its name, its letters and its hits."""
    shown = titles(case.files[case.words[-1]])
    every = dict(enumerate((*target, title) for target, title in zip(case.targets, shown)))
    for at, record in enumerate(case.queries):
        targets = {at: every[at]} if case.reference["paired"] else every
        yield record, listed(record, targets, case.reference["scoring"], case.reference["rules"])


def check(program, rng, case):
    check_lists(program, rng, case, list(expected(case)))


def check_lists(program, rng, case, of_queries):
    """JSON against the reference, E-values in it against the scores, and table and text against JSON."""
    rules, words = case.reference["rules"], [*case.words, "--format", "json"]
    want = []
    for (name, letters, *_), hits in of_queries:
        hits = [hit.object(rules["iddef"]) for hit in hits]
        want.append({"query": name, "mate": None, "length": len(letters), "hits": hits})
    case.reference["expected"] = "".join(f"{json.dumps(one)}\n" for one in want)
    data = run_without_evalues(program, case, words)
    words = [*case.words, "--format", "json"]
    try:
        got = [json.loads(line) for line in data.decode().splitlines()]
        numbers = [[(hit.pop("bits"), hit.pop("evalue")) for hit in one["hits"]] for one in got]
    except (ValueError, KeyError, TypeError) as error:
        raise Difference(words, f"no JSON of lists: {error!r}") from None
    compare_lines(words, list(as_lines(want)), list(as_lines(got)))
    check_numbers(words, rules, got, numbers)
    check_table(program, rng, case, of_queries, numbers)
    if rng.random() < 0.5:
        words = [*case.words, "--format", "text"]
        compare_lines(words, list(text_of(got)), read_text(words, program.run(words).decode()))
    kind = rng.choice(["tab", "json"])
    words = [*case.words, "--format", kind]
    plain = program.run(words)
    other = [*words, *way(rng, program, True, rules["mode"] == "local")]
    with perhaps_database(rng, program, case) as before:
        compare_bytes([*before, *other], plain, program.run(other))
    if rng.random() < 0.12:
        part_of(program, rng, case, [*case.words, *way(rng, program, True, False)], "--part", kind, plain)


def run_without_evalues(program, case, words):
    """The output; where the scores have no E-values, --evalue is an error, and is taken out of the case's words."""
    try:
        return program.run(words)
    except Difference as difference:
        if "there are no E-values" not in difference.args[1] or "--evalue" not in words:
            raise
    at = case.words.index("--evalue")
    del case.words[at : at + 2]
    return program.run([*case.words, *words[-2:]])


def as_lines(objects):
    """A line for each query and each hit, with its values between tabs."""
    for one in objects:
        for part in (one, *one["hits"]):
            yield "\t".join(f"{key}={json.dumps(value)}" for key, value in part.items() if key != "hits")


def check_numbers(words, rules, got, numbers):
    """Bit scores grow with the scores, in a line, and E-values shrink with them."""
    of_scores = {}
    for one, pairs in zip(got, numbers):
        last = {}
        for hit, (bits, evalue) in zip(one["hits"], pairs):
            if rules["mode"] != "local" and (bits, evalue) != (None, None):
                raise Difference(words, f"an E-value in mode {rules['mode']}: {evalue}")
            if bits is None:
                continue
            if of_scores.setdefault(hit["score"], bits) != bits:
                raise Difference(words, f"two bit scores of score {hit['score']}: {bits}, {of_scores[hit['score']]}")
            score, least = last.get(hit["target"], (hit["score"], evalue))
            if evalue < least and hit["score"] <= score or evalue > least and hit["score"] > score:
                raise Difference(words, f"{one['query']}: E-values {least} of {score}, {evalue} of {hit['score']}")
            last[hit["target"]] = hit["score"], evalue
    scores = sorted(of_scores)
    if len(scores) > 2:
        slope = (of_scores[scores[-1]] - of_scores[scores[0]]) / (scores[-1] - scores[0])
        for score in scores:
            if abs(of_scores[scores[0]] + slope * (score - scores[0]) - of_scores[score]) > 0.16:
                raise Difference(words, f"bit scores are not in a line: {of_scores}")


def close(bits, evalue, shown_bits, shown_evalue):
    """Whether the table's numbers are those of JSON, in BLAST's number formats."""
    if bits is None or evalue is None:
        return (shown_bits, shown_evalue) == ("0", "-1")
    bits_off = 1.06 + bits * 1e-3 if bits > 99 else 0.051
    steps = [(1e-179, 1e-179), (1e-3, evalue * 0.01), (0.1, 6e-4), (1, 6e-3), (10, 0.06)]
    evalue_off = next((off for most, off in steps if evalue < most), 0.6 + evalue * 0.01)
    return abs(float(shown_bits) - bits) <= bits_off and abs(float(shown_evalue) - evalue) <= evalue_off


def check_table(program, rng, case, of_queries, numbers):
    rules, columns = case.reference["rules"], STD
    words = [*case.words, "--format", "tab"]
    if rng.random() < 0.8:
        columns = rng.sample(COLUMNS, rng.randint(1, len(COLUMNS)))
        words += ["--columns", ",".join(columns)]
    has_header = rng.random() < 0.3
    words += ["--header"] * has_header
    lines = program.run(words).decode().splitlines()
    header = [line for line in lines if line.startswith("# ")] if has_header else []
    if has_header and (not header or header[-1] != "# Fields: " + "\t".join(columns)):
        raise Difference(words, f"the header ends in {header[-1:]}")
    want, at = [], 0
    got = lines[len(header) :]
    for (_, hits), pairs in zip(of_queries, numbers):
        for hit, (bits, evalue) in zip(hits, pairs):
            of_target = [other for other in hits if other.number == hit.number]
            fields = hit.fields(rules["iddef"], of_target, rules["protein"])
            have = dict(zip(columns, got[at].split("\t"))) if at < len(got) else {}
            one = have.get("bitscore", "0" if bits is None else str(bits))
            other = have.get("evalue", "-1" if evalue is None else str(evalue))
            if not close(bits, evalue, one, other):
                raise Difference(words, f"line {at + 1}: JSON has {bits} bits, E-value {evalue}; the table {one}, {other}")
            fields |= {"bitscore": one, "evalue": other}
            want.append("\t".join(fields[name] for name in columns))
            at += 1
    compare_lines(words, want, got)


def text_of(got):
    """What JSON tells, in the words of `read_text`."""
    for one in got:
        yield f"Query: {one['query']} ({one['length']} letters)"
        for hit in one["hits"]:
            yield f"> {hit['title']} ({hit['target_length']} letters)"
            yield f"Score {hit['score']} strand {hit['strand']}"
            yield f"Identities {hit['matches']}/{hit['columns']} gaps {hit['gaps']}"
            for name, begin, end in (("query", "query_start", "query_end"), ("target", "target_start", "target_end")):
                letters = hit[f"{name}_aligned"]
                first, last = hit[begin] + 1, hit[end]
                turned = name == "target" and hit["strand"] == "-"
                has_place = letters.strip("-") != ""
                places = ((last, first) if turned else (first, last)) if has_place else ()
                yield " ".join(map(str, [name, letters, *places]))


def read_text(words, text):
    """A run's text, without what JSON lacks: of each hit the numbers, and the rows put together."""
    lines, rows = [], {}

    def finish():
        for name in ("Query", "Target"):
            if name in rows:
                parts = rows.pop(name)
                places = [part for part in parts if part[1].strip("-")]
                both = [places[0][0], places[-1][2]] if places else []
                lines.append(" ".join([name.lower(), "".join(part[1] for part in parts), *both]))

    for line in text.splitlines():
        if found := re.match(r"(Query|Target)\s+(\d*)\s*([A-Z*-]+)(?:\s+(\d+))?$", line):
            rows.setdefault(found[1], []).append((found[2], found[3], found[4]))
        elif line.startswith(("Query: ", "> ")):
            finish()
            lines.append(line)
        elif found := re.match(r"Score (-?\d+)", line):
            strand = re.search(r", strand ([+-])$", line)
            lines.append(f"Score {found[1]} strand {strand[1] if strand else '+'}")
        elif found := re.match(r"Identities (\d+/\d+)", line):
            gaps = re.search(r"gaps (\d+)/", line)
            lines.append(f"Identities {found[1]} gaps {gaps[1] if gaps else 0}")
    finish()
    return lines
