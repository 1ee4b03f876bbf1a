"""The reference of the fuzzer: what `swalign` must write, computed from the definitions alone.

Written from docs/algorithm.md (sections 1, 12, 13, 14) and "What the output holds" in docs/output.md, cell by cell,
without chunks, bands, filters or vectors. It shares no code with the crate, and is quick enough for small
inputs only (about a million cells a second).
"""

import math
import re
from functools import lru_cache

from .limits import counts, let_in

NEVER = -(1 << 60)
DNA, PROTEIN = "ACGTRYSWKMBDHVN", "ARNDCQEGHILKMFPSTWYVBZX*JUO"
# Residues are scored as their substitutes. J is kept if the matrix has it.
SUBSTITUTES = {"U": "C", "O": "K", "J": "IL"}
# The bases that each code stands for.
BASES = dict(zip(DNA, "A C G T AG CT CG AT GT AC CGT AGT ACT ACG ACGT".split()))
COMPLEMENT = str.maketrans("ACGTURYSWKMBDHVNacgturyswkmbdhvn", "TGCAAYRSWMKVHDBNtgcaayrswmkvhdbn")


def reverse_complement(letters):
    return letters.translate(COMPLEMENT)[::-1]


class Scoring:
    """Letters as they are compared, `score[q][t]` of two of them, gap costs, and MAPQ's `a` and `b`."""

    def __init__(self, protein, gap_open, gap_extend, match=1, mismatch=4, matrix=None, ambiguous=None, iupac=False):
        self.protein, self.open, self.extend, self.end_bonus = protein, gap_open, gap_extend, 0
        # Open and extend of each piece of the gap costs.
        self.pieces = [(gap_open, gap_extend)]
        self.letters, self.plain = (PROTEIN, PROTEIN[:20]) if protein else (DNA, DNA[:4])
        if matrix is None:
            self.match, self.mismatch = match, mismatch
            self.ambiguous = mismatch if ambiguous is None else ambiguous

            def of_bases(q, t):
                if q in self.plain and t in self.plain:
                    return match if q == t else -mismatch
                if iupac:
                    return match if set(BASES[q]) & set(BASES[t]) else -mismatch
                return -self.ambiguous

            self.score = {q: {t: of_bases(q, t) for t in DNA} for q in DNA}
            return
        rows = [line.split() for line in matrix.splitlines() if line.strip() and not line.startswith("#")]
        cells = {(row[0], column): int(n) for row in rows[1:] for column, n in zip(rows[0], row[1:])}
        lowest = min(cells.values())
        has_j = "J" if ("J", "J") in cells else None

        def of(q, t):
            own = lambda letter: SUBSTITUTES.get(letter, letter) if protein and not (letter == has_j) else letter
            scores = [cells.get((a, b), lowest) for a in own(q) for b in own(t)]
            return math.ceil(sum(scores) / len(scores))

        self.score = {q: {t: of(q, t) for t in self.letters} for q in self.letters}
        own = sum(self.score[q][q] for q in self.plain) / len(self.plain)
        self.match = max(1, math.floor(own + 0.5))
        self.mismatch = max(0, -min(self.score[q][t] for q in self.plain for t in self.plain))

    def with_second_gap(self, gap_open, gap_extend):
        """The same scoring with gap costs of two pieces."""
        self.pieces.append((gap_open, gap_extend))
        return self

    def gap_cost(self, length):
        return min(first + length * each for first, each in self.pieces)

    def with_end_bonus(self, bonus):
        """The same scoring with an end bonus. Lower-case letters stand for the ends of a query."""
        self.end_bonus = bonus
        ends = {q.lower(): {t: score + bonus for t, score in row.items()} for q, row in self.score.items()}
        self.score = self.score | ends
        return self

    def ended(self, letters):
        """The letters of a query, its ends in lower case if there is an end bonus."""
        if self.end_bonus == 0 or not letters:
            return letters
        return letters.lower() if len(letters) == 1 else letters[0].lower() + letters[1:-1] + letters[-1].lower()

    def bonus(self, letters, hit):
        """The end bonuses in the score of a hit of a query."""
        first, last = hit["query"][0] == 0, hit["query"][1] == len(letters) > 1
        return self.end_bonus * (first + last)

    def read(self, letters):
        """The letters as rows of the matrix: upper case, U of DNA as T."""
        return letters.upper() if self.protein else letters.upper().replace("U", "T")

    def shown(self, letters):
        """The letters as SEQ has them: upper case, U of DNA as T, a protein's * as X."""
        return letters.upper().replace("*", "X") if self.protein else letters.upper().replace("U", "T")

    def equal(self, q, t):
        return q == t and (self.protein or q in "ACGT")


def fill(query, target, scoring):
    """The matrix H as a list of rows (Gotoh 1982). `e` is E of the next cell, `gaps` has F of the next row."""
    if len(scoring.pieces) > 1:
        return fill_by_pieces(query, target, scoring)
    first, extend = scoring.open + scoring.extend, scoring.extend
    profile = {q: [scoring.score[q][t] for t in target] for q in set(query)}
    H, above, gaps = [], [0] * len(target), [NEVER] * len(target)
    for q in query:
        row, below, diagonal, e = [], [], 0, NEVER
        for s, up, f in zip(profile[q], above, gaps):
            h = diagonal + s
            diagonal = up
            if e > h:
                h = e
            if f > h:
                h = f
            if h < 0:
                h = 0
            row.append(h)
            h -= first
            e -= extend
            if h > e:
                e = h
            f -= extend
            below.append(f if f > h else h)
        H.append(row)
        above, gaps = row, below
    return H


def fill_by_pieces(query, target, scoring):
    """`fill` for gap costs of any number of pieces: each has its own `e` and `gaps`."""
    costs = [(first + each, each) for first, each in scoring.pieces]
    H, above, gaps = [], [0] * len(target), [[NEVER] * len(target) for _ in costs]
    for q in query:
        row, diagonal, e = [], 0, [NEVER] * len(costs)
        for j, t in enumerate(target):
            h = max(0, diagonal + scoring.score[q][t], *e, *(f[j] for f in gaps))
            diagonal = above[j]
            row.append(h)
            for piece, (first, each) in enumerate(costs):
                e[piece] = max(e[piece] - each, h - first)
                gaps[piece][j] = max(gaps[piece][j] - each, h - first)
        H.append(row)
        above = row
    return H


@lru_cache(4096)
def first_end(query, target, scoring):
    """Score, column and row of the first end of the highest score; None where nothing scores above 0."""
    H = fill(query, target, scoring)
    score = max((max(row, default=0) for row in H), default=0)
    if score == 0:
        return None
    column, row = min((row.index(score), i) for i, row in enumerate(H) if score in row)
    return score, column, row


def closing(H, i, j, scoring):
    """The gaps that give H in a cell, with their kinds and lengths: deletions first, and short ones of each piece first."""
    for kind, most in (("D", j), ("I", i)):
        for first, each in scoring.pieces:
            for k in range(1, most + 1):
                before = H[i][j - k] if kind == "D" else H[i - k][j]
                if before - first - k * each == H[i][j]:
                    yield kind, k


def walk(query, target, scoring, i, j):
    """The path of an end cell as letters M, I and D, forwards, and its first row and column. A gap that closes as
    soon as it can is the shortest one that gives H by the costs of one piece; the first piece comes first."""
    H, path = fill(query[: i + 1], target[: j + 1], scoring), ""
    at = lambda i, j: H[i][j] if i >= 0 and j >= 0 else 0
    while at(i, j) > 0:
        if H[i][j] == at(i - 1, j - 1) + scoring.score[query[i]][target[j]]:
            i, j, step = i - 1, j - 1, "M"
        else:
            kind, k = next(closing(H, i, j, scoring))
            i, j, step = (i, j - k, "D" * k) if kind == "D" else (i - k, j, "I" * k)
        path = step + path
    return path, i + 1, j + 1


def threshold(best, ppm, min_score):
    if ppm == 0:
        return min_score
    return max(min_score, -(-best * ppm // 1_000_000) if best > 0 else best)


def least_of_quality(scoring, m, best, most):
    """The least score of a further hit on large references: lower ones do not lower a mapping quality of `most`."""
    a, b = scoring.match, scoring.mismatch
    identity = min(1, max(0, 1 - (m * a - (best - 2 * scoring.end_bonus)) / (a + b) / m))
    t = identity * identity * (1 if m < 50 else math.log(50) / math.log(m))
    of_each = 6.02 / a * t * t
    return best + 1 - math.ceil((most + 3 - 0.499) / of_each) if of_each else NEVER


def locus(hit):
    """The place of a hit in the order of hits."""
    return -hit["score"], hit["strand"], hit["target"], hit["place"][1], hit["query"][1]


def hits(query, targets, scoring, strands, min_score, least_beside, most, circles=(), end_of=first_end, path_of=walk):
    """The first `most` hits of a query, as dicts in their order. `targets` are (number, letters); those whose numbers are
    `circles` stand twice. `least_beside` gives the least score of a further hit beside the best one. `end_of` and `path_of`
    find an alignment, which is any by default."""
    turned = {"+": scoring.read(query), "-": scoring.read(reverse_complement(query)) if "-" in strands else ""}
    turned = {strand: scoring.ended(letters) for strand, letters in turned.items()}
    least, found = min_score, []

    def search(strand, number, letters, left, right):
        """The first hit in the columns from `left` to `right`, its place in the order first."""
        end = end_of(turned[strand], letters[left:right], scoring)
        return [((-end[0], strand, number, left + end[1], end[2]), letters, left, right)] if end else []

    def without(strand, number, start, end):
        """What is free when columns are taken."""
        for hit in free:
            (_, *own, _, _), letters, left, right = hit
            if own != [strand, number] or right <= start or end <= left:
                yield hit
            else:
                yield from search(strand, number, letters, left, max(left, start))
                yield from search(strand, number, letters, min(end, right), right)

    read = [(number, scoring.read(letters) * (2 if number in circles else 1)) for number, letters in targets]
    free = [hit for strand in strands for n, letters in read for hit in search(strand, n, letters, 0, len(letters))]
    while len(found) < most:
        free = [hit for hit in free if -hit[0][0] >= least]
        if not free:
            break
        (score, strand, number, column, row), letters, left, right = min(free)
        path, i, j = path_of(turned[strand], letters[left:right], scoring, row, column - left)
        found.append({"score": -score, "strand": strand, "target": number, "path": path,
                      "query": (i, row + 1), "place": (left + j, column + 1)})
        least = least_beside(found[0]["score"])
        round = len(letters) // 2 if number in circles else 0
        for turn in sorted({-round, 0, round}):
            free = list(without(strand, number, left + j + turn, column + 1 + turn))
    return found


def path_score(scoring, query, target, hit):
    (i, _), (j, _), score = hit["query"], hit["place"], 0
    for step in hit["path"]:
        score += scoring.score[query[i]][target[j]] if step == "M" else 0
        i, j = i + (step != "D"), j + (step != "I")
    return score - sum(scoring.gap_cost(len(gap)) for gap in re.findall("I+|D+", hit["path"]))


def pieces(scoring, query, target, hit):
    """A hit on a circle of the letters `target`, before and behind the origin; the hit itself where it is not across. The
    pieces have the score of the hit, and one of their own."""
    size, path, (i, end), (j, right) = len(target), hit["path"], hit["query"], hit["place"]
    if right <= size:
        return [hit]
    rows = [i + path[:at].count("M") + path[:at].count("I") for at in range(len(path))]
    columns = [j + path[:at].count("M") + path[:at].count("D") for at in range(len(path))]
    pairs = [at for at, step in enumerate(path) if step == "M"]
    last, first = max(at for at in pairs if columns[at] < size), min(at for at in pairs if columns[at] >= size)
    before = {"path": path[: last + 1], "query": (i, rows[last] + 1), "place": (j, columns[last] + 1)}
    behind = {"path": path[first:], "query": (rows[first], end), "place": (columns[first] - size, right - size)}
    both = [hit | before, hit | behind]
    return [piece | {"own score": path_score(scoring, query, target, piece)} for piece in both]


def mapping_quality(scoring, first, second, least):
    # Deletions at the ends are not part of the span.
    inner = first["path"].strip("D")
    span = max(first["query"][1] - first["query"][0], inner.count("M") + inner.count("D"))
    sub = max(0, second["score"]) if second else max(0, least - 1)
    score, a, b = first["score"], scoring.match, scoring.mismatch
    if sub >= score or score <= 0 or span == 0:
        return 0
    identity = min(1, 1 - (span * a - score) / (a + b) / span)
    t = identity**2 * (1 if span < 50 else math.log(50) / math.log(span))
    others = 1 if second else 0
    quality = math.floor(6.02 * (score - sub) / a * t**2 + 0.499) - math.floor(4.343 * math.log(others + 1) + 0.499)
    return max(0, min(60, quality))


def runs(kinds):
    """'MMI' as '2M1I'."""
    return "".join(f"{len(run.group())}{run.group()[0]}" for run in re.finditer(r"(.)\1*", "".join(kinds)))


def differences(scoring, query, target, hit):
    """The path with = and X, NM, MD, and PAF's numbers: matches, block length and divergence."""
    (i, _), (j, _) = hit["query"], hit["place"]
    kinds, md, equals, ambiguous = [], "", 0, 0
    shown = lambda letter: "X" if letter == "*" else letter
    odd = lambda letter: not scoring.protein and letter not in "ACGT"
    for at, step in enumerate(hit["path"]):
        q, t = query[i] if step != "D" else "A", target[j] if step != "I" else "A"
        ambiguous += odd(q) or odd(t)
        kinds.append(step if step != "M" else "=" if scoring.equal(q, t) else "X")
        if kinds[-1] == "=":
            equals += 1
        elif step == "M":
            md, equals = f"{md}{equals}{shown(t)}", 0
        elif step == "D" and hit["path"][max(0, at - 1) : at] == "D":
            md += shown(t)
        elif step == "D":
            md, equals = f"{md}{equals}^{shown(t)}", 0
        i, j = i + (step != "D"), j + (step != "I")
    matches, gaps = kinds.count("="), len(re.findall("I+|D+", "".join(kinds)))
    compressed = matches + kinds.count("X") + gaps
    return kinds, len(kinds) - matches, f"{md}{equals}", (matches, len(kinds) - ambiguous, 1 - matches / compressed)


# Maximum number of equal hits among which --tie-break hash chooses, unless --max-hits is larger.
MOST_TIED = 64


def priority(read, targets, *hits):
    """The hash by which --tie-break hash chooses the lowest: FNV-1a, mixed by MurmurHash3's fmix64. A pair of mates has the
    hits of both."""
    places = (f"\t{targets[hit['target']][0]}\t{hit['place'][0] + 1}\t{hit['strand']}" for hit in hits)
    text, number, bits = read + "".join(places), 0xCBF29CE484222325, (1 << 64) - 1
    for byte in text.encode():
        number = (number ^ byte) * 0x100000001B3 & bits
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        number = (number ^ number >> 33) * factor & bits
    return number ^ number >> 33


def first_by_hash(read, targets, found, rules):
    """The hits with that one of the equal best ones first that --tie-break hash chooses."""
    tied = [hit for hit in found if hit["score"] == found[0]["score"]][: max(MOST_TIED, rules["max_hits"])]
    best = min(tied, key=lambda hit: priority(read, targets, hit))
    return [best, *(hit for hit in found if hit is not best)]


def search(letters, targets, scoring, rules):
    """What is found of one query: its hits, the second best one, and the mapping quality of the first. `targets` are
    (name, letters) with their numbers, `rules` a dict of strands, min_score, ppm, max_hits, eqx, cs (None, short or long), group, the names of
    circles, the two tiers of hits, if there are any, and in modes other than local what finds hits, and what SAM has of them."""
    if rules.get("tiers"):
        return rules["tiers"].search(letters, targets, scoring, rules)
    most, m = rules.get("most quality"), max(1, len(letters))
    of_quality = lambda best: least_of_quality(scoring, m, best, most) if most else NEVER
    beside = lambda best: max(threshold(best, rules["ppm"], rules["min_score"]), of_quality(best))
    numbered = [(number, target) for number, (_, target) in targets.items()]
    limits = rules.get("limits")
    read = rules.get("read")
    count = 1 << 30 if limits or read is not None else max(2, rules["max_hits"])
    circles = {number for number, (name, _) in targets.items() if name in rules["circles"]}
    find = rules.get("find", hits)
    found = find(letters, numbered, scoring, rules["strands"], rules["min_score"], beside, count, circles)
    best, second = found[0] if found else None, found[1] if len(found) > 1 else None
    if read is not None and found:
        found = first_by_hash(read, targets, found, rules)
        best = found[0]
    if limits:
        strands = {"+": scoring.read(letters), "-": scoring.read(reverse_complement(letters))}
        kinds = lambda hit: differences(scoring, strands[hit["strand"]], scoring.read(targets[hit["target"]][1]), hit)[0]
        admitted = [hit for hit in found if counts(limits, rules.get("mode"), letters, kinds(hit), hit)]
        limits = limits | {"max_hits": rules["max_hits"]}
        found = let_in(admitted, limits, lambda hit: -hit["score"], lambda hit: hit["target"])
        # The second hit is the best other hit, even if the limits exclude it.
        second = best if found and found[0] is not best else second
    least = beside(best["score"]) if best else 0
    found = found[: len(found) if limits else rules["max_hits"]]
    if scoring.end_bonus and found:
        # The reported scores leave the bonuses out.
        of_best = scoring.bonus(letters, found[0])
        second = second and second | {"score": second["score"] - of_best}
        least -= of_best
        found = [hit | {"score": hit["score"] - scoring.bonus(letters, hit)} for hit in found]
        is_first = found[0]["score"] >= rules["min_score"]
        found = [hit for hit in found if is_first and hit["score"] >= rules["min_score"]]
    of_first = {"quality": mapping_quality(scoring, found[0], second, least) if found else 0}
    return {"hits": found, "second": second} | of_first


def taken(hit, len):
    """The letters that a hit takes of a query of that length, as it was read."""
    start, end = hit["query"]
    return (len - end, len - start) if hit["strand"] == "-" else (start, end)


def sides(letters, hit, targets, scoring, rules):
    """The letters that a hit aligns, as they are compared: the query on its strand, and the target, twice if it is a circle."""
    query = reverse_complement(letters) if hit["strand"] == "-" else letters
    name, target = targets[hit["target"]]
    return scoring.read(query), scoring.read(target) * (2 if name in rules["circles"] else 1)


def best_part(scoring, query, target, hit, drop):
    """The rows of the best part of a path whose running score falls by more than `drop` somewhere, beyond what a gap between
    the diagonals costs; None for other paths. A part ends at the highest score before a fall, and begins at the lowest score
    before that."""
    (i, _), (j, _), score, gap = hit["query"], hit["place"], 0, ""
    extend = min(each for _, each in scoring.pieces)
    low = top = (0, i, i - j)
    parts, is_cut = [], False
    for step in hit["path"]:
        if step == "M":
            score, gap = score + scoring.score[query[i]][target[j]], ""
        else:
            # The cost of the gap so far, and with one more residue.
            before, gap = gap if gap[-1:] == step else "", (gap if gap[-1:] == step else "") + step
            score -= scoring.gap_cost(len(gap)) - (scoring.gap_cost(len(before)) if before else 0)
        i, j = i + (step != "D"), j + (step != "I")
        now, fall = (score, i, i - j), top[0] - score - extend * abs(top[2] - i + j)
        if score > top[0]:
            top = now
        elif fall > drop:
            parts.append((low, top))
            low, top, is_cut = now, now, True
        elif score <= low[0]:
            low, top = now, now
    low, top = max([*parts, (low, top)], key=lambda part: part[1][0] - part[0][0])
    return (low[1], top[1]) if is_cut else None


def cut(letters, hit, targets, scoring, rules):
    """The interval of the query that the best part of a hit takes, if its path falls too far."""
    drop = rules["split"][2]
    rows = best_part(scoring, *sides(letters, hit, targets, scoring, rules), hit, drop) if drop else None
    return rows and taken({**hit, "query": rows}, len(letters))


def search_interval(letters, interval, targets, scoring, rules, least):
    """What is found of an interval of a query, by rows of the whole query; None if that is nothing. The search for the best
    part of a path has one tier."""
    start, end, is_part = interval
    rules = {**rules, "tiers": None} if is_part else rules
    own = search(letters[start:end], targets, scoring, {**rules, "min_score": least, "max_hits": 1})
    if not own["hits"]:
        return None
    hit = own["hits"][0]
    before = len(letters) - end if hit["strand"] == "-" else start
    return {**own, "hits": [{**hit, "query": tuple(at + before for at in hit["query"])}]}


def cut_primary(letters, found, targets, scoring, rules):
    """What was found of a query with its first hit cut: if its path falls too far, what is found of its best part alone. The
    hit stays in its tier. If the part scores less than the least score, nothing is cut."""
    part = cut(letters, found["hits"][0], targets, scoring, rules) if rules.get("split") and found["hits"] else None
    own = part and search_interval(letters, (*part, True), targets, scoring, rules, rules["min_score"])
    if own and found.get("anchored"):
        own |= {"anchored": True, "quality": min(30, own["quality"])}
    return own or found


def supplement(letters, found, targets, scoring, rules):
    """The supplementary hits of a query, each found as the best one of a free interval. A bounded search ends before the
    round after which four times the query's letters would have been searched."""
    least, bounded, _ = rules["split"]
    most = {q: max(0, *row.values()) for q, row in scoring.score.items()}
    gain = lambda text: sum(most[q] for q in scoring.read(text))
    both = "-" in rules["strands"]
    potential = lambda a, b: max(gain(letters[a:b]), both and gain(reverse_complement(letters[a:b])))
    further, searched, hit = [], 0, found["hits"][0] if found["hits"] else None
    start, end = taken(hit, len(letters)) if hit else (0, 0)
    free = [(0, start, False), (end, len(letters), False)] if hit else []
    while free := [interval for interval in free if interval[0] < interval[1] and potential(*interval[:2]) >= least]:
        searched += sum(b - a for a, b, _ in free)
        if bounded and searched > 4 * len(letters):
            break
        left = []
        for a, b, is_part in free:
            own = search_interval(letters, (a, b, is_part), targets, scoring, rules, least)
            if not own:
                continue
            hit = own["hits"][0]
            start, end = taken(hit, len(letters))
            part = cut(letters, hit, targets, scoring, rules)
            if part and part != (a, b):
                left += [(a, part[0], False), (*part, True), (part[1], b, False)]
                continue
            further.append(own)
            left += [(a, start, False), (end, b, False)]
        free = left
    return further


def across(letters, own, targets, scoring, rules):
    """What was found with one hit, as what was found with each of its pieces, in their order."""
    hit = own["hits"][0]
    query = reverse_complement(letters) if hit["strand"] == "-" else letters
    name, target = targets[hit["target"]]
    is_circle = name in rules["circles"]
    of = pieces(scoring, scoring.read(query), scoring.read(target), hit) if is_circle else [hit]
    return [{**own, "hits": [piece]} for piece in of]


def lines(record, targets, scoring, rules):
    """The lines of one query in SAM and in PAF. `record` is (name, letters, qualities or None)."""
    found = search(record[1], targets, scoring, rules | ({"read": record[0].split()[0]} if rules.get("hash") else {}))
    found = cut_primary(record[1], found, targets, scoring, rules)
    return written(record, found, targets, scoring, rules)


def cs_of(letters, hit, targets, scoring, form):
    """The tag cs: minimap2's difference string, in which N equals nothing. None if no column is aligned."""
    query = reverse_complement(letters) if hit["strand"] == "-" else letters
    target = targets[hit["target"]][1]
    kinds = differences(scoring, scoring.read(query), scoring.read(target), hit)[0]
    shown = lambda text: scoring.shown(text) if scoring.protein else re.sub("[^ACGT]", "N", scoring.shown(text))
    query, target, (i, j) = shown(query), shown(target), (hit["query"][0], hit["place"][0])
    text, at = "", 0
    while at < len(kinds):
        kind, end = kinds[at], at
        while end < len(kinds) and kinds[end] == kind:
            end += 1
        count = end - at
        q, t = query[i : i + count * (kind != "D")], target[j : j + count * (kind != "I")]
        if kind == "=":
            text += f":{count}" if form == "short" else f"={t}"
        elif kind == "X":
            text += "".join(f"*{b}{a}" for a, b in zip(q, t)).lower()
        else:
            text += ("+" + q if kind == "I" else "-" + t).lower()
        i, j, at = i + len(q), j + len(t), end
    return text


def cigar_of(letters, hit, targets, scoring, rules):
    """The CIGAR with soft clips, and what `differences` tells."""
    query = reverse_complement(letters) if hit["strand"] == "-" else letters
    kinds, *others = differences(scoring, scoring.read(query), scoring.read(targets[hit["target"]][1]), hit)
    inner, (start, end) = runs(kinds if rules["eqx"] else hit["path"]), hit["query"]
    clip = lambda n: f"{n}S" if n else ""
    return clip(start) + inner + clip(len(letters) - end), inner, others


def id_of(group):
    """The ID of a line @RG, which begins with it."""
    return group.split("\t")[1][3:]


def written(record, found, targets, scoring, rules, mate=None):
    """The lines of one query for which that was found. `mate` is of mates: the flags of the pair, where the mate is, as
    RNAME and POS, its 5' end, None where it is unmapped, and the tags about it."""
    name, letters, qualities = record
    shown, group = scoring.shown(letters), [f"RG:Z:{id_of(rules['group'])}"] if rules["group"] else []
    mate = mate or {"flags": (0, 0), "place": None, "end": None, "tags": [], "suffix": ""}
    (flags, of_primary), place = mate["flags"], mate["place"]
    if not found["hits"]:
        where, next_place = (place, ["=", str(place[1])]) if place else (("*", 0), ["*", "0"])
        unmapped = [name or "*", str(4 | flags | of_primary), where[0], str(where[1]), "0", "*", *next_place, "0"]
        unmapped += [shown or "*", qualities or "*", *mate["tags"], *group]
        return ["\t".join(unmapped)], ["\t".join([(name or "*") + mate["suffix"], str(len(letters)), *"00**000000"])]
    split = supplement(letters, found, targets, scoring, rules) if rules.get("split") else []
    halved = lambda own: across(letters, own, targets, scoring, rules)
    first = halved({**found, "hits": found["hits"][:1]})
    primary, *other = sorted(first, key=lambda own: -own["hits"][0].get("own score", 0))
    split = [*other, *(piece for own in split for piece in halved(own))]
    split.sort(key=lambda own: (locus(own["hits"][0]), taken(own["hits"][0], len(letters))))
    elements = []
    for own in [primary, *split] if split else []:
        hit = own["hits"][0]
        cigar, _, (nm, *_) = cigar_of(letters, hit, targets, scoring, rules)
        place_of = f"{targets[hit['target']][0]},{hit['place'][0] + 1},{hit['strand']}"
        elements.append(f"{place_of},{cigar},{own['quality']},{nm};")
    further = [{**found, "hits": [hit], "second": None, "quality": 0} for hit in found["hits"][1:]]
    secondary = [piece for own in further for piece in halved(own)]
    ranks = [0] + [2048] * len(split) + [256] * len(secondary)
    sam, paf = [], []
    for at, (rank, own) in enumerate(zip(ranks, [primary, *split, *secondary])):
        hit, second, mapq = own["hits"][0], own["second"], own["quality"]
        reverse, rname = hit["strand"] == "-", targets[hit["target"]][0]
        query = reverse_complement(letters) if reverse else letters
        (start, end), (left, right) = hit["query"], hit["place"]
        _, inner, (paf_nm, _, (matches, block, de)) = cigar_of(letters, hit, targets, scoring, rules)
        in_sam = rules["sam"](hit) if "sam" in rules else hit
        cigar, _, (nm, md, _) = cigar_of(letters, in_sam, targets, scoring, rules)
        values = (qualities or "*")[::-1] if reverse else qualities or "*"
        sequence = scoring.shown(query)
        if rank == 2048 and rules.get("clip") == "hard":
            sequence, cigar = sequence[start:end], cigar.replace("S", "H")
            values = values[start:end] if qualities else "*"
        partner = mate["further"][at - len(ranks)] if rank == 256 and mate.get("further") else None
        told = partner or {"flags": flags | (of_primary if rank == 0 else 0), "place": place, "end": mate["end"]}
        flag = 16 * reverse | rank | told["flags"]
        fields = [name or "*", flag, rname, in_sam["place"][0] + 1, mapq, cigar]
        five_prime = right if reverse else left
        length = told["end"][1] - five_prime if told["end"] and told["end"][0] == rname else 0
        next_place = told["place"]
        fields += ["=" if next_place[0] == rname else next_place[0], next_place[1], length] if next_place else ["*", 0, 0]
        fields += ("*", "*") if rank == 256 else (sequence, values)
        cs = lambda hit: cs_of(letters, hit, targets, scoring, rules["cs"]) if rules.get("cs") else ""
        cs_tag = lambda hit: [f"cs:Z:{text}"] if (text := cs(hit)) else []
        fields += [f"NM:i:{nm}", f"MD:Z:{md}", *cs_tag(in_sam), f"AS:i:{hit['score']}"]
        fields += [f"XS:i:{second['score']}"] if second else []
        of_tier = ["ya:i:1"] if own.get("anchored") else []
        fields += of_tier
        others = "".join(element for other, element in enumerate(elements) if other != at)
        fields += [f"SA:Z:{others}"] if others and rank != 256 else []
        sam.append(fields + mate["tags"] * (rank == 0) + group)
        fields = [(name or "*") + mate["suffix"], len(letters), *taken(hit, len(letters)), hit["strand"], rname]
        fields += [len(targets[hit["target"]][1]), left, right, matches, block, mapq]
        fields += [f"NM:i:{paf_nm}", f"AS:i:{hit['score']}", f"tp:A:{'PS'[rank == 256]}"]
        fields += [f"de:f:{de:.4f}" if de else "de:f:0", f"cg:Z:{inner}", *cs_tag(hit)]
        paf.append(fields + of_tier + ["su:i:1"] * (rank == 2048))
    text = lambda rows: ["\t".join(map(str, row)) for row in rows]
    return text(sam), text(paf)
