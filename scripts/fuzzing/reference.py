"""The reference of the fuzzer: what `swalign` must write, computed from the definitions alone.

Written from docs/algorithm.md (sections 1, 12, 13, 14, 18) and "What the output holds" in docs/output.md, cell by cell,
without chunks, bands, filters or vectors. It shares no code with the crate, and is quick enough for small
inputs only (about a million cells a second).
"""

import math
import re
from functools import lru_cache

NEVER = -(1 << 60)
DNA, PROTEIN = "ACGTRYSWKMBDHVN", "ARNDCQEGHILKMFPSTWYVBZX*"
COMPLEMENT = str.maketrans("ACGTURYSWKMBDHVNacgturyswkmbdhvn", "TGCAAYRSWMKVHDBNtgcaayrswmkvhdbn")


def reverse_complement(letters):
    return letters.translate(COMPLEMENT)[::-1]


class Scoring:
    """Letters as they are compared, `score[q][t]` of two of them, gap costs, and MAPQ's `a` and `b`."""

    def __init__(self, protein, gap_open, gap_extend, match=1, mismatch=4, matrix=None):
        self.protein, self.open, self.extend = protein, gap_open, gap_extend
        self.letters, self.plain = (PROTEIN, PROTEIN[:20]) if protein else (DNA, DNA[:4])
        if matrix is None:
            same = lambda q, t: match if q == t and q in self.plain else -mismatch
            self.score = {q: {t: same(q, t) for t in DNA} for q in DNA}
            self.match, self.mismatch = match, mismatch
            return
        rows = [line.split() for line in matrix.splitlines() if line.strip() and not line.startswith("#")]
        cells = {(row[0], column): int(n) for row in rows[1:] for column, n in zip(rows[0], row[1:])}
        lowest = min(cells.values())
        self.score = {q: {t: cells.get((q, t), lowest) for t in self.letters} for q in self.letters}
        own = sum(self.score[q][q] for q in self.plain) / len(self.plain)
        self.match = max(1, math.floor(own + 0.5))
        self.mismatch = max(0, -min(self.score[q][t] for q in self.plain for t in self.plain))

    def read(self, letters):
        """The letters as rows of the matrix: upper case, U as T, a protein's U, O and J as X."""
        letters = letters.upper()
        return re.sub("[UOJ]", "X", letters) if self.protein else letters.replace("U", "T")

    def shown(self, letters):
        """The letters as SEQ has them: upper case, U of DNA as T, a protein's * as X."""
        return letters.upper().replace("*", "X") if self.protein else letters.upper().replace("U", "T")

    def equal(self, q, t):
        return q == t and (self.protein or q in "ACGT")


def fill(query, target, scoring):
    """The matrix H as a list of rows (Gotoh 1982). `e` is E of the next cell, `gaps` has F of the next row."""
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


@lru_cache(4096)
def first_end(query, target, scoring):
    """Score, column and row of the first end of the highest score; None where nothing scores above 0."""
    H = fill(query, target, scoring)
    score = max((max(row, default=0) for row in H), default=0)
    if score == 0:
        return None
    column, row = min((row.index(score), i) for i, row in enumerate(H) if score in row)
    return score, column, row


def walk(query, target, scoring, i, j):
    """The path of an end cell as letters M, I and D, forwards, and its first row and column. A gap that closes as
    soon as it can is the shortest one that gives H."""
    H, path = fill(query[: i + 1], target[: j + 1], scoring), ""
    at = lambda i, j: H[i][j] if i >= 0 and j >= 0 else 0
    while at(i, j) > 0:
        cost = lambda k: scoring.open + k * scoring.extend
        if H[i][j] == at(i - 1, j - 1) + scoring.score[query[i]][target[j]]:
            i, j, step = i - 1, j - 1, "M"
        elif k := next((k for k in range(1, j + 1) if H[i][j - k] - cost(k) == H[i][j]), 0):
            j, step = j - k, "D" * k
        else:
            k = next(k for k in range(1, i + 1) if H[i - k][j] - cost(k) == H[i][j])
            i, step = i - k, "I" * k
        path = step + path
    return path, i + 1, j + 1


def threshold(best, ppm, min_score):
    return max(min_score, -(-best * ppm // 1_000_000))


def hits(query, targets, scoring, strands, min_score, ppm, most, circles):
    """The first `most` hits of a query, as dicts in their order. `targets` are (number, letters); those whose numbers are
    `circles` stand twice."""
    turned = {"+": scoring.read(query), "-": scoring.read(reverse_complement(query)) if "-" in strands else ""}
    least, found = min_score, []

    def search(strand, number, letters, left, right):
        """The first hit in the columns from `left` to `right`, its place in the order first."""
        end = first_end(turned[strand], letters[left:right], scoring)
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
        path, i, j = walk(turned[strand], letters[left:right], scoring, row, column - left)
        found.append({"score": -score, "strand": strand, "target": number, "path": path,
                      "query": (i, row + 1), "place": (left + j, column + 1)})
        least = threshold(found[0]["score"], ppm, min_score)
        round = len(letters) // 2 if number in circles else 0
        for turn in sorted({-round, 0, round}):
            free = list(without(strand, number, left + j + turn, column + 1 + turn))
    return found


def path_score(scoring, query, target, hit):
    (i, _), (j, _), score = hit["query"], hit["place"], 0
    for at, step in enumerate(hit["path"]):
        if step == "M":
            score += scoring.score[query[i]][target[j]]
        else:
            score -= scoring.extend + scoring.open * (hit["path"][at - 1] != step)
        i, j = i + (step != "D"), j + (step != "I")
    return score


def pieces(scoring, query, target, hit):
    """A hit on a circle of the letters `target`, before and behind the origin; the hit itself where it is not across."""
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
    return [piece | {"score": path_score(scoring, query, target, piece)} for piece in both]


def in_lines(found, pieces_of):
    """The pieces of all hits in the order of the lines, with what each is: primary, supplementary or secondary."""
    first, *other = sorted(pieces_of(found[0]), key=lambda piece: -piece["score"])
    further = [piece for hit in found[1:] for piece in pieces_of(hit)]
    return [(first, "primary"), *((o, "supplementary") for o in other), *((f, "secondary") for f in further)]


def mapping_quality(scoring, first, second, least):
    span = max(first["query"][1] - first["query"][0], first["place"][1] - first["place"][0])
    sub = second["score"] if second else least - 1
    score, a, b = first["score"], scoring.match, scoring.mismatch
    if sub >= score:
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
        elif step == "D" and hit["path"][at - 1] == "D":
            md += shown(t)
        elif step == "D":
            md, equals = f"{md}{equals}^{shown(t)}", 0
        i, j = i + (step != "D"), j + (step != "I")
    matches, gaps = kinds.count("="), len(re.findall("I+|D+", "".join(kinds)))
    compressed = matches + kinds.count("X") + gaps
    return kinds, len(kinds) - matches, f"{md}{equals}", (matches, len(kinds) - ambiguous, 1 - matches / compressed)


def lines(record, targets, scoring, rules):
    """The lines of one query in SAM and in PAF. `record` is (name, letters, qualities or None), `targets` are
    (name, letters) with their numbers, `rules` a dict of strands, min_score, ppm, max_hits, eqx, group and the names of
    circles."""
    name, letters, qualities = record
    wanted = rules["strands"], rules["min_score"], rules["ppm"], max(2, rules["max_hits"])
    circles = {number for number, (target_name, _) in targets.items() if target_name in rules["circles"]}
    found = hits(letters, [(number, target) for number, (_, target) in targets.items()], scoring, *wanted, circles)
    shown, group = scoring.shown(letters), [f"RG:Z:{rules['group'][7:].split()[0]}"] if rules["group"] else []
    if not found:
        unmapped = [name or "*", "4", "*", "0", "0", "*", "*", "0", "0", shown or "*", qualities or "*", *group]
        return ["\t".join(unmapped)], ["\t".join([name or "*", str(len(letters)), *"00**000000"])]
    second = found[1] if len(found) > 1 else None
    least = threshold(found[0]["score"], rules["ppm"], rules["min_score"])
    quality = mapping_quality(scoring, found[0], second, least)
    sam, paf, elements = [], [], []

    def pieces_of(hit):
        query = reverse_complement(letters) if hit["strand"] == "-" else letters
        target = scoring.read(targets[hit["target"]][1])
        return pieces(scoring, scoring.read(query), target, hit) if hit["target"] in circles else [hit]

    for hit, kind in in_lines(found[: rules["max_hits"]], pieces_of):
        reverse, secondary, other = hit["strand"] == "-", kind == "secondary", kind == "supplementary"
        query = reverse_complement(letters) if reverse else letters
        target_name, target = targets[hit["target"]]
        (start, end), (left, right) = hit["query"], hit["place"]
        kinds, nm, md, (matches, block, de) = differences(scoring, scoring.read(query), scoring.read(target), hit)
        inner = runs(kinds if rules["eqx"] else hit["path"])
        clip = lambda n: f"{n}S" if n else ""
        cigar = clip(start) + inner + clip(len(letters) - end)
        values = (qualities or "*")[::-1] if reverse else qualities or "*"
        mapq = 0 if secondary else quality
        flags = 16 * reverse + 256 * secondary + 2048 * other
        fields = [name or "*", flags, target_name, left + 1, mapq, cigar]
        elements.append(f"SA:Z:{target_name},{left + 1},{hit['strand']},{cigar},{mapq},{nm};")
        fields += ["*", 0, 0, *(("*", "*") if secondary else (scoring.shown(query), values))]
        fields += [f"NM:i:{nm}", f"MD:Z:{md}", f"AS:i:{hit['score']}"]
        fields += [f"XS:i:{second['score']}"] if second and not secondary else []
        sam.append(fields)
        own = (len(letters) - end, len(letters) - start) if reverse else (start, end)
        fields = [name or "*", len(letters), *own, hit["strand"], target_name, len(target), left, right]
        fields += [matches, block, mapq, f"NM:i:{nm}", f"AS:i:{hit['score']}"]
        fields += [f"tp:A:{'PS'[secondary]}", f"de:f:{de:.4f}" if de else "de:f:0", f"cg:Z:{inner}"]
        paf.append(fields + ["su:i:1"] * other)
    if len(sam) > 1 and sam[1][1] & 2048:
        sam[0].append(elements[1])
        sam[1].append(elements[0])
    sam = [fields + group for fields in sam]
    text = lambda rows: ["\t".join(map(str, row)) for row in rows]
    return text(sam), text(paf)
