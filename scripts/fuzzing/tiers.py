"""Two tiers of hits (docs/algorithm.md, section 24): the reference, and its cases.

The proven score depends on the total length of the references. So each case has one long reference of N alone, which matches
nothing: the reference need not search it.
"""

import math
import random
from functools import lru_cache

from .cases import (
    PRESETS, Case, decorated, fasta, letters, make_cs, make_records, make_repeats, make_split, make_targets, mutated, packed, piece,
    rearranged
)  # fmt: skip
from .reference import NEVER, Scoring, hits, reverse_complement, search

FULL_CELLS, CHANCE_CELLS, BY_CHANCE, LONG = 1 << 23, 1 << 17, 0.001, 400
# Maximum number of matches that pay for one more base of a gap, in a run with two tiers.
CHEAPEST_GAP = 8


def ungapped_lambda(scoring):
    """The positive solution of `sum p_i p_j exp(lambda s_ij) = 1`; None if there is none."""
    a, b = scoring.match, scoring.mismatch
    if a - 3 * b >= 0:
        return None
    low, high = 0.0, 1.0
    total = lambda value: 0.25 * math.exp(value * a) + 0.75 * math.exp(-value * b)
    while total(high) < 1:
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if total(middle) < 1 else (low, middle)
    return low


def seed_score(scoring, m, s):
    """The minimum score at which an alignment of a query of m bases holds an intact seed of s bases; None if no score does."""
    a, b, o, e = scoring.match, scoring.mismatch, scoring.open, scoring.extend
    if 2 * (a + e) * (s - 1) < o:
        return None
    twice_lambda = min(2 * (a + b), 2 * (o + e), o + 2 * (a + e))
    inside = lambda l: m // s if l == m else max(0, (l + 1) // s - 1)
    score = 1 + max((2 * a * l - inside(l) * twice_lambda) // 2 for l in range(m + 1))
    return score if score <= a * m else None


@lru_cache(4096)
def proven_score(scoring, m, columns, floor, shortest):
    """P(m): the score down to which hits of a query of m bases are proven, by seeds of at least `shortest` bases."""
    if m * columns <= FULL_CELLS:
        return floor
    scores, rate = [floor], ungapped_lambda(scoring)
    if rate:
        scores.append(math.ceil(math.log(m * columns / BY_CHANCE) / rate))
    for s in range(max(6, shortest), 33):
        least = seed_score(scoring, m, s)
        if least is None:
            continue
        window = m + 2 * max(0, m * scoring.match - least + 1 - scoring.open) / scoring.extend
        if m // s * columns / 4**s * window * m <= CHANCE_CELLS:
            scores.append(least)
            break
    return max(scores)


def runs(query, target):
    """For each cell, the number of equal bases before and in it on its diagonal."""
    rows, above = [], [0] * len(target)
    for q in query:
        row = [before + 1 if q == t and q in "ACGT" else 0 for t, before in zip(target, [0, *above])]
        rows.append(row)
        above = row
    return rows


@lru_cache(256)
def layers(query, target, scoring, k):
    """H, the score A of the best anchored alignment that ends in each cell, and the runs, each with a row and a column of
    empty sequences before."""
    first, extend, match = scoring.open + scoring.extend, scoring.extend, scoring.match
    H, A, R = ([[value] * (len(target) + 1)] for value in (0, NEVER, 0))
    F, I = [NEVER] * (len(target) + 1), [NEVER] * (len(target) + 1)
    for i, q in enumerate(query, 1):
        h, a, r, e, d = [0], [NEVER], [0], NEVER, NEVER
        scores = scoring.score[q]
        for j, t in enumerate(target, 1):
            e, d = max(e, h[-1] - scoring.open) - extend, max(d, a[-1] - scoring.open) - extend
            F[j], I[j] = max(F[j] - extend, H[-1][j] - first), max(I[j] - extend, A[-1][j] - first)
            run = R[-1][j - 1] + 1 if q == t and q in "ACGT" else 0
            entered = H[i - k][j - k] + k * match if run >= k else NEVER
            h.append(max(0, H[-1][j - 1] + scores[t], e, F[j]))
            a.append(max(A[-1][j - 1] + scores[t], d, I[j], entered))
            r.append(run)
        H.append(h)
        A.append(a)
        R.append(r)
    return H, A, R


class Anchored:
    """Ends and paths of anchored alignments."""

    def __init__(self, k):
        self.k = k

    def first_end(self, query, target, scoring):
        """Score, column and row of the first end of the best anchored alignment; None if there is none."""
        if not any(run >= self.k for row in runs(query, target) for run in row):
            return None
        A = layers(query, target, scoring, self.k)[1]
        score = max(map(max, A))
        if score <= 0:
            return None
        column, row = min((row.index(score), i) for i, row in enumerate(A) if score in row)
        return score, column - 1, row - 1

    def walk(self, query, target, scoring, i, j):
        """The path of the anchored alignment that ends in this cell, and its first row and column."""
        H, A, R = layers(query, target, scoring, self.k)
        i, j = i + 1, j + 1
        left, held, is_anchored, path = A[i][j], 0, False, ""
        cost = lambda n: scoring.open + n * scoring.extend

        def is_possible(i, j, held, left):
            missing = self.k - held
            completes = held and R[i][j] >= missing and H[i - missing][j - missing] + missing * scoring.match == left
            return A[i][j] == left or completes

        while not (is_anchored and left == 0):
            if i and j:
                q, t = query[i - 1], target[j - 1]
                now, rest = held + 1 if q == t and q in "ACGT" else 0, left - scoring.score[q][t]
                has_run = is_anchored or now >= self.k
                if H[i - 1][j - 1] == rest if has_run else is_possible(i - 1, j - 1, now, rest):
                    i, j, path, left, held, is_anchored = i - 1, j - 1, "M" + path, rest, now, has_run
                    continue
            cells = H if is_anchored else A
            if n := next((n for n in range(1, j + 1) if cells[i][j - n] == left + cost(n)), 0):
                j, path = j - n, "D" * n + path
            else:
                n = next(n for n in range(1, i + 1) if cells[i - n][j] == left + cost(n))
                i, path = i - n, "I" * n + path
            left, held = left + cost(n), 0
        return path, i, j


def has_extended_run(query, target, scoring, k, least):
    """Whether a run of k bases scores `least` when it is extended on its diagonal, until the sum falls by `least`."""

    def gain(sides):
        total = best = 0
        for q, t in sides:
            total += scoring.score[q][t]
            best = max(best, total)
            if best - total >= least:
                break
        return best

    rows = runs(query, target)
    for i, row in enumerate(rows):
        for j, run in enumerate(row):
            if run >= k:
                before = zip(reversed(query[: i + 1 - k]), reversed(target[: j + 1 - k]))
                if k * scoring.match + gain(before) + gain(zip(query[i + 1 :], target[j + 1 :])) >= least:
                    return True
    return False


class Tiers:
    """The tiers of hits; `k` is the number of bases of a run, 0 for no second tier. `kmers` are the length and the distance of
    the k-mers of a sampled index, as large references have one, and None otherwise. Then `by_quality` says that a further hit
    must be able to lower the mapping quality."""

    def __init__(self, k, kmers=None, by_quality=False):
        self.k, self.anchored, self.shortest = k, Anchored(k), sum(kmers) - 1 if kmers else 0
        self.qualities = (60, 30) if kmers and by_quality and k else (None, None)

    def search(self, query, targets, scoring, rules):
        """What `reference.search` finds of a query in the targets that are not N alone."""
        m, floor, first = len(query), rules["min_score"], 30 * scoring.match
        least, columns = max(first, floor), len(rules["strands"]) * sum(len(text) for _, text in targets.values())
        targets = {number: (name, text) for number, (name, text) in targets.items() if set(text) != {"N"}}
        within = lambda least, targets=targets, **more: search(
            query, targets, scoring, {**rules, "most quality": self.qualities[0], **more, "tiers": None, "min_score": least}
        )
        if self.k and m >= LONG and LONG * columns > FULL_CELLS:
            # Reads and references of these cases are so short that a run is always near half of the shorter sequence,
            # so its target supports the read.
            turned = {"+": query, "-": reverse_complement(query)}
            strands = [scoring.read(turned[strand]) for strand in rules["strands"]]
            is_near = lambda text: any(has_extended_run(letters, scoring.read(text), scoring, self.k, first) for letters in strands)
            return within(least, {number: target for number, target in targets.items() if is_near(target[1])})
        # Queries of LONG or more bases have the proven score of a query of LONG - 1 bases.
        proven = proven_score(scoring, min(m, LONG - 1), columns, floor, self.shortest)
        found = within(proven)
        if found["hits"] or proven <= least or not self.k:
            return found
        anchored = lambda *args: hits(*args, end_of=self.anchored.first_end, path_of=self.anchored.walk)
        found = within(least, find=anchored, **{"most quality": self.qualities[1]})
        return {**found, "quality": min(30, found["quality"]), "anchored": True}


def without_runs(rng, alphabet, text, k):
    """A copy with an edit every few bases, so that hardly a run of k bases is left."""
    copy, at = "", 0
    while at < len(text):
        step = rng.choice([rng.randint(max(4, k - 8), max(5, k - 1)), max(5, k - 1)])
        base = rng.choice(alphabet)
        copy += text[at : at + step] + rng.choice([base, base, base, "", base + text[at + step : at + step + 1]])
        at += step + 1
    return copy


def make_read(rng, alphabet, pool, k, most):
    """A read with errors, or one of which only short stretches are without."""
    if rng.random() < 0.15:
        return rearranged(rng, alphabet, False, pool, most)
    drawn = lambda: mutated(rng, alphabet, piece(rng, pool, rng.randint(20, most)), rng.choice([0, 0.03, 0.08, 0.12, 0.2]))
    foreign = lambda least=0: "".join(rng.choices(alphabet, k=rng.randint(least, 60)))
    # A piece without runs that scores high, and a piece with a run that scores low.
    poor = lambda: without_runs(rng, alphabet, piece(rng, pool, rng.randint(40, most)), k)
    run = lambda: piece(rng, pool, max(1, rng.choice([k - 1, k, 29, 30, 31, 35, 40])))
    kind = rng.random()
    if kind < 0.15:
        parts = [drawn()]
    elif kind < 0.3:
        parts = [foreign(), run(), foreign()]
    elif kind < 0.45:
        text = piece(rng, pool, most)
        at, end = rng.randint(0, len(text)), k + rng.choice([-1, 0, 0, 1, 5])
        parts = [without_runs(rng, alphabet, part, k) for part in (text[:at], text[at + end :])]
        parts.insert(1, text[at : at + end])
    elif kind < 0.7:
        parts = [poor(), foreign(), run()]
    else:
        parts = [piece(rng, pool, most), foreign(), rng.choice([poor, run, drawn])(), foreign()]
    if rng.random() < 0.3:
        rng.shuffle(parts)
    text = "".join(reverse_complement(part) if rng.random() < 0.2 else part for part in parts)
    return decorated(rng, reverse_complement(text) if rng.random() < 0.5 else text, False)


def make(seed, small=False):
    """The case of a seed: reads against references that are long enough for two tiers."""
    rng, alphabet = random.Random(seed), list("ACGT")
    name = rng.choice(["short", "short", "long", "blastn", "linear"])
    numbers, words = PRESETS[name], ["--preset", name, *["--end-bonus", "0"] * (name == "short")]
    # Cheap ambiguous codes would raise the proven scores.
    words += ["--ambiguous", str(numbers[1])] * (name in ("short", "long"))
    if rng.random() < 0.3:
        numbers = match, mismatch, gap_open, gap_extend = rng.randint(1, 5), rng.randint(2, 9), rng.randint(0, 9), rng.randint(1, 3)
        words = ["--match", str(match), "--mismatch", str(mismatch), "--gap-open", str(gap_open), "--gap-extend", str(gap_extend)]
    match, mismatch, gap_open, gap_extend = numbers
    scoring = Scoring(False, gap_open, gap_extend, match, mismatch)
    anchor = rng.choice([19, 19, 10, 12, 12, 15, 15, 25, 0])
    words += ["--anchor", str(anchor)] * (anchor != 19)
    make_texts = make_repeats if rng.random() < 0.3 else make_targets
    targets = make_texts(rng, alphabet, False, rng.choice([100, 150, 200, 400]))
    pool = [text.upper() for text in targets]
    targets.insert(rng.randint(0, len(targets)), "N" * rng.choice([20_000, 60_000, 150_000]))
    strands = rng.choice(["+", "-", "+-", "+-", "+-", "+-", "+-", "+-"])
    reads = []
    while sum(map(len, reads)) * sum(map(len, pool)) < 40_000 and len(reads) < 10:
        reads.append(make_read(rng, alphabet, pool, anchor, rng.choice([60, 100, 150, 200])))
    # The reference has no boxes, so reads are short.
    kmers = (rng.randint(6, 11), rng.randint(2, 7)) if rng.random() < 0.4 else None
    if kmers:
        words += ["--sampled-kmers", "{},{}".format(*kmers)]
        reads = [read[: LONG - 1] for read in reads]
    elif anchor and rng.random() < 0.1:
        reads.append(letters(rng, alphabet, 150) + make_read(rng, alphabet, pool, anchor, 150) + letters(rng, alphabet, 200))
    cs, cs_words = make_cs(rng)
    max_hits, ratio, eqx = rng.choice([1, 1, 2, 3, 10]), rng.choice([None, None, "0", "0.5", "1"]), rng.random() < 0.3
    words += ["--alphabet", "dna", *["--max-hits", str(max_hits)] * (max_hits > 1), *cs_words, *["--eqx"] * eqx]
    words += ["--secondary-ratio", ratio] * (ratio is not None) + ["--forward-only"] * (strands == "+") + ["--strand", "minus"] * (strands == "-")
    rules = {"min_score": 20 * match, "ppm": round(float(ratio or "0.8") * 1_000_000), "eqx": eqx, "cs": cs, "group": None}
    rules |= make_split(rng, words, False, scoring, rules["min_score"], rng.random() < 0.4)
    rules |= {"strands": strands, "max_hits": max_hits, "circles": []}
    if rng.random() < 0.1:
        rules["hash"] = True
        words += ["--tie-break", "hash"]
    if match <= CHEAPEST_GAP * gap_extend:
        rules["tiers"] = Tiers(anchor, kmers, ratio is None)
    queries, kind, query = make_records(rng, [f"q{at}" for at in range(len(reads))], reads)
    targets = [(f"t{at}", text) for at, text in enumerate(targets)]
    (query, query_zip), (target, target_zip) = packed(rng, query), packed(rng, fasta(rng, targets))
    files = {f"q.{kind}{query_zip}": query, f"t.fa{target_zip}": target}
    words = [*words, f"q.{kind}{query_zip}", f"t.fa{target_zip}"]
    return Case(words, queries, targets, files, {"scoring": scoring, "rules": rules, "paired": False})


def make_long(seed):
    """The case of a seed: long reads on references with a sampled index. There is no reference for their hits: they are compared
    with those without a filter."""
    rng, alphabet = random.Random(seed), list("ACGT")
    targets = [letters(rng, alphabet, rng.randint(3_000, 7_000)) for _ in range(rng.randint(1, 3))]
    repeat = piece(rng, targets, rng.randint(300, 1_500))
    for at in (rng.randrange(len(targets)) for _ in range(rng.randint(0, 4))):
        start, copy = rng.randint(0, len(targets[at])), mutated(rng, alphabet, repeat, rng.choice([0, 0.02, 0.1]))
        copy = reverse_complement(copy) if rng.random() < 0.5 else copy
        targets[at] = targets[at][:start] + copy + targets[at][start:]
    for at in (rng.randrange(len(targets)) for _ in range(rng.choice([0, 0, 1, 4]))):
        start, run = rng.randrange(len(targets[at])), rng.choice([1, 2, 20, 400])
        targets[at] = targets[at][:start] + "N" * run + targets[at][start + run :]
    pool = list(targets)
    targets.insert(rng.randint(0, len(targets)), "N" * rng.choice([20_000, 60_000]))
    reads = []
    for _ in range(rng.randint(2, 5)):
        rate = rng.choice([0, 0.002, 0.01, 0.03, 0.08, 0.15])
        read = mutated(rng, alphabet, piece(rng, pool, rng.choice([150, 400, 401, 700, 1_000, 2_500])), rate)
        if rng.random() < 0.3:
            read = read[: len(read) // 2] + mutated(rng, alphabet, piece(rng, pool, len(read) // 2 + 1), rate)
        reads.append(reverse_complement(read) if rng.random() < 0.5 else read)
    reads.append(letters(rng, alphabet, rng.randint(400, 1_000)))
    name = rng.choice(["short", "long", "map-ont", "map-hifi", "map-pb"])
    words = ["--preset", name, "--alphabet", "dna", "--sampled-kmers", f"{rng.randint(6, 11)},{rng.randint(2, 7)}"]
    # Few short runs have an anchor of 19 bases.
    words += ["--anchor", str(rng.choice([12, 15, 25]))] * (rng.random() < 0.4)
    words += ["--max-hits", str(rng.choice([2, 3, 8]))] * (rng.random() < 0.5)
    words += ["--secondary-ratio", rng.choice(["0.3", "0.8"])] * (rng.random() < 0.3)
    words += ["--no-split"] * (rng.random() < 0.4)
    queries, kind, query = make_records(rng, [f"q{at}" for at in range(len(reads))], reads)
    targets = [(f"t{at}", text) for at, text in enumerate(targets)]
    (query, query_zip), (target, target_zip) = packed(rng, query), packed(rng, fasta(rng, targets))
    files = {f"q.{kind}{query_zip}": query, f"t.fa{target_zip}": target}
    return Case([*words, *files], queries, targets, files, {"paired": False})
