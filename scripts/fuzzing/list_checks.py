"""Holds lists of hits against the reference, and their formats against each other."""

import json
import re

from . import lists
from .program import Difference, compare_bytes, compare_lines, part_of, perhaps_database, way


def check(program, rng, case, of_queries=None):
    """JSON against the reference, E-values in it against the scores, and table and text against JSON."""
    of_queries = of_queries or list(lists.expected(case))
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
    if rules["mode"] == "local" and rng.random() < 0.4:
        check_order(program, rng, case)
    check_table(program, rng, case, of_queries, numbers)
    check_multiple(program, rng, case, got, numbers)
    if rng.random() < 0.5:
        words = [*case.words, "--format", "text"]
        compare_lines(words, list(text_of(got)), read_text(words, program.run(words).decode()))
    kind = rng.choice(["tab", "json"])
    words = [*case.words, "--format", kind]
    plain = program.run(words)
    other = [*words, *way(rng, program, words, True, rules["mode"] == "local")]
    with perhaps_database(rng, program, case) as before:
        compare_bytes([*before, *other], plain, program.run(other))
    is_split = "long" in words and rules["mode"] == "local"
    has_whole_references = case.reference.get("paired") or words[0] == "all" or is_split
    for part in ["--part"] + ["--ref-part"] * (not has_whole_references):
        if rng.random() < 0.12 + 0.18 * (part == "--ref-part"):
            # Joined parts must have all columns of a table, including those that depend on all hits of a target.
            more = ["--columns", ",".join(lists.COLUMNS)] if kind == "tab" and rng.random() < 0.5 else []
            words = [*case.words, *more, "--format", kind]
            expected = program.run(words) if more else plain
            words += way(rng, program, words, True, rules["mode"] == "local" and part == "--part")
            with perhaps_database(rng, program, case):
                part_of(program, rng, case, words, part, kind, expected)


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


def without(words, options, flags):
    """Words without these options and their values, and without these flags."""
    kept, words = [], list(words)
    while words:
        word = words.pop(0)
        if word in options:
            words.pop(0)
        elif word not in flags:
            kept.append(word)
    return kept


def check_order(program, rng, case):
    """Hits come by the E-value that they show, equal ones by score, and those of a target together. Limits keep the first."""
    limits = ["--rank", "--max-targets", "--max-hits", "--max-hsps"]
    plain = without(case.words, [*limits, "--min-identity", "--min-coverage"], ["--ties"])
    plain[plain.index(case.words[-1]) :] = ["--format", "json", case.words[-1]]
    hsps = rng.choice(["1", "3"])
    run = lambda *more: [json.loads(line) for line in program.run([*plain, "--max-hsps", hsps, *more]).decode().splitlines()]
    # Each query of `swalign pairs` has only one target.
    targets_at_most = lambda count: [] if case.words[0] == "pairs" else ["--max-targets", str(count)]
    every = targets_at_most(1_000_000)
    by_score = run("--rank", "raw", *every)
    for rank in ([], ["--rank", "evalue"]):
        words, key = [*plain, *rank], lambda hit: (hit["evalue"] or 0, -hit["score"])
        all_hits = run(*rank, *every)
        most = rng.randint(1, 3)
        for whole, cut, scored in zip(all_hits, run(*rank, *targets_at_most(most)), by_score):
            hits = whole["hits"]
            same = lambda hits: sorted(json.dumps({**hit, "evalue": 0}) for hit in hits)
            if same(hits) != same(scored["hits"]):
                raise Difference(words, f"{whole['query']}: the hits are not those by score")
            targets = list(dict.fromkeys(hit["target"] for hit in hits))
            of_targets = [[hit for hit in hits if hit["target"] == target] for target in targets]
            if sum(of_targets, []) != hits:
                raise Difference(words, f"{whole['query']}: hits of one target do not follow each other")
            for group in [*of_targets, [group[0] for group in of_targets]]:
                evalues = [hit["evalue"] or 0 for hit in group]
                if evalues != sorted(evalues) or evalues == [0] * len(group) and group != sorted(group, key=key):
                    raise Difference(words, f"{whole['query']}: E-values {evalues}")
            if cut["hits"] != sum(of_targets[:most], []):
                raise Difference([*words, *targets_at_most(most)], f"{whole['query']}: not the first targets")


def check_multiple(program, rng, case, got, numbers):
    """Costs times a number: scores are multiplied, and bit scores and E-values stay as they are."""
    scoring = case.reference["scoring"]
    if scoring.protein or {"--matrix", "--secondary-ratio"} & set(case.words) or rng.random() < 0.7:
        return
    factor = rng.choice([2, 3, 7, 1000])
    costs = {"match": scoring.match, "mismatch": scoring.mismatch, "ambiguous": scoring.ambiguous,
             "gap-open": scoring.open, "gap-extend": scoring.extend}
    if max(costs.values()) * factor > 1 << 20 or scoring.match * factor * max(len(one[1]) for one in case.queries) > 1 << 28:
        return
    words = list(case.words)
    for name, cost in costs.items():
        if f"--{name}" in words:
            at = words.index(f"--{name}")
            del words[at : at + 2]
        words += [f"--{name}", str(cost * factor)]
    if "--min-score" in words:
        at = words.index("--min-score") + 1
        words[at] = str(int(words[at]) * factor)
    words += ["--format", "json"]
    more = [json.loads(line) for line in program.run(words).decode().splitlines()]
    for one, other, pairs in zip(got, more, numbers, strict=True):
        of_multiple = [(hit.pop("bits"), hit.pop("evalue")) for hit in other["hits"]]
        if of_multiple != pairs or [{**hit, "score": hit["score"] * factor} for hit in one["hits"]] != other["hits"]:
            raise Difference(words, f"{one['query']}: costs times {factor} change the hits or their E-values")


def close(bits, evalue, shown_bits, shown_evalue):
    """Whether the table's numbers are those of JSON, in BLAST's number formats."""
    if bits is None or evalue is None:
        return (shown_bits, shown_evalue) == ("NA", "NA")
    bits_off = 1.06 + bits * 1e-3 if bits > 99 else 0.051
    steps = [(1e-179, 1e-179), (9e-4, evalue * 0.01), (0.1, 6e-4), (1, 6e-3), (10, 0.06)]
    evalue_off = next((off for most, off in steps if evalue < most), 0.6 + evalue * 0.01)
    return abs(float(shown_bits) - bits) <= bits_off and abs(float(shown_evalue) - evalue) <= evalue_off


def check_table(program, rng, case, of_queries, numbers):
    rules, columns = case.reference["rules"], lists.STD
    words = [*case.words, "--format", "tab"]
    if rng.random() < 0.8:
        columns = rng.sample(lists.COLUMNS, rng.randint(1, len(lists.COLUMNS)))
        words += ["--columns", ",".join(columns)]
    has_header = rng.random() < 0.3
    words += ["--header"] * has_header
    lines = program.run(words).decode().splitlines()
    header = [line for line in lines if line.startswith("# ")] if has_header else []
    names = "# Columns: " + "\t".join(columns)
    if has_header and header.count(names) != 1:
        raise Difference(words, f"the header has no line {names!r}, or more: {header}")
    want, at = [], 0
    got = lines[len(header) :]
    if has_header and (header[-1] == "# 0 hits found") == any(hits for _, hits in of_queries):
        raise Difference(words, f"the header ends with {header[-1]!r}")
    for (_, hits), pairs in zip(of_queries, numbers):
        for hit, (bits, evalue) in zip(hits, pairs):
            of_target = [other for other in hits if other.number == hit.number]
            fields = hit.fields(rules["iddef"], of_target, rules["protein"])
            have = dict(zip(columns, got[at].split("\t"))) if at < len(got) else {}
            one = have.get("bitscore", "NA" if bits is None else str(bits))
            other = have.get("evalue", "NA" if evalue is None else str(evalue))
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
            yield f"Identities {float(hit['identity']):.3f} gaps {hit['gaps']}"
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
        elif found := re.match(r"Identities (\d+)/(\d+)", line):
            gaps, (equal, of) = re.search(r"gaps (\d+)/", line), map(int, found.groups())
            lines.append(f"Identities {lists.shown(lists.percent(equal, of), 3)} gaps {gaps[1] if gaps else 0}")
    finish()
    return lines
