"""Alignments of modes other than local, from docs/algorithm.md, section 20, and cases of them.

Each matrix is filled cell by cell. Of mode overlap there is a second one, of the paths that have a match step.
"""

import random
from functools import lru_cache

from . import limits
from .cases import AMINO, MOST_QUERIES, PRESETS, ROOT, Case, again, default_ambiguous, fasta, length, letters, make_query, make_records
from .cases import make_cs, make_repeats, make_scoring, make_targets, mutated, packed, query_names
from .reference import NEVER, Scoring, reverse_complement

MODES = ["glocal", "global", "overlap"]
CELLS = 30_000


@lru_cache(4096)
def fill(query, target, scoring, mode):
    """H of all paths, and of those that have a match step, as lists of rows with row 0 and column 0."""
    open, extend = scoring.open, scoring.extend
    gap = lambda k: -(open + k * extend) if k else 0
    top = [gap(j) if mode == "global" else 0 for j in range(len(target) + 1)]
    H, M = [top], [[NEVER] * len(top)]
    F, F_matched = [NEVER] * len(top), [NEVER] * len(top)
    for i, q in enumerate(query, 1):
        row, matched = [0 if mode == "overlap" else gap(i)], [NEVER]
        E = E_matched = NEVER
        for j, t in enumerate(target, 1):
            E = max(E, row[j - 1] - open) - extend
            E_matched = max(E_matched, matched[j - 1] - open) - extend
            F[j] = max(F[j], H[i - 1][j] - open) - extend
            F_matched[j] = max(F_matched[j], M[i - 1][j] - open) - extend
            match = H[i - 1][j - 1] + scoring.score[q][t]
            row.append(max(match, E, F[j]))
            matched.append(max(match, E_matched, F_matched[j]))
        H.append(row)
        M.append(matched)
    return H, M


def first_end(query, target, scoring, mode):
    """Score, column and row of the first end: letters of the target and of the query up to it."""
    H, M = fill(query, target, scoring, mode)
    m, n = len(query), len(target)
    if mode == "glocal":
        ends = [(-H[m][j], j, m) for j in range(1, n + 1)]
    elif mode == "global":
        ends = [(-H[m][n], n, m)]
    else:
        ends = [(-M[m][j], j, m) for j in range(1, n + 1)] + [(-M[i][n], n, i) for i in range(1, m)]
    return min(ends)


def walk(query, target, scoring, mode, i, j):
    """The path of an end as letters M, I and D, forwards, and the letters before it of the query and of the target."""
    H, M = fill(query, target, scoring, mode)
    cost, path, lacks_match = lambda k: scoring.open + k * scoring.extend, "", mode == "overlap"
    while i > 0 and j > 0:
        layer = M if lacks_match else H
        here = layer[i][j]
        if here == H[i - 1][j - 1] + scoring.score[query[i - 1]][target[j - 1]]:
            i, j, step, lacks_match = i - 1, j - 1, "M", False
        elif k := next((k for k in range(1, j + 1) if layer[i][j - k] - cost(k) == here), 0):
            j, step = j - k, "D" * k
        else:
            k = next(k for k in range(1, i + 1) if layer[i - k][j] - cost(k) == here)
            i, step = i - k, "I" * k
        path = step + path
    if mode != "overlap":
        path, i = "I" * i + path, 0
    if mode == "global":
        path, j = "D" * j + path, 0
    return path, i, j


def finder(mode):
    """A function as `reference.hits`, for this mode."""

    def hits(query, targets, scoring, strands, min_score, least_beside, most, circles=()):
        turned = {"+": scoring.read(query), "-": scoring.read(reverse_complement(query)) if "-" in strands else ""}
        free, found, least = [], [], min_score

        def add(strand, number, text, left, right):
            """The first hit in the columns from `left` to `right`."""
            if turned[strand] and left < right:
                score, column, row = first_end(turned[strand], text[left:right], scoring, mode)
                free.append(((score, strand, number, left + column, row), text, left, right))

        for strand in strands:
            for number, text in targets:
                add(strand, number, scoring.read(text), 0, len(text))
        while len(found) < most:
            free = [hit for hit in free if -hit[0][0] >= least]
            if not free:
                break
            hit = min(free)
            free.remove(hit)
            (score, strand, number, column, row), text, left, right = hit
            path, i, j = walk(turned[strand], text[left:right], scoring, mode, row, column - left)
            found.append({"score": -score, "strand": strand, "target": number, "path": path,
                          "query": (i, row), "place": (left + j, column)})  # fmt: skip
            least = least_beside(found[0]["score"])
            if mode != "glocal" or left + j == column:
                free = [other for other in free if other[0][1:3] != (strand, number)]
            else:
                add(strand, number, text, left, left + j)
                add(strand, number, text, column, right)
        return found

    return hits


def in_sam(hit):
    """The hit as SAM has it: without deletions at its ends. One without a letter of the target is at the letter before."""
    path, (start, end) = hit["path"], hit["place"]
    if start == end:
        return {**hit, "place": (start - 1, end - 1)}
    left, right = len(path) - len(path.lstrip("D")), len(path) - len(path.rstrip("D"))
    return {**hit, "path": path[left : len(path) - right], "place": (start + left, end - right)}


def make_text(rng, alphabet, protein, pool, most):
    """A query that is whole in a target, is about one, overlaps its end, or is any."""
    kind = rng.random()
    if kind < 0.5:
        return make_query(rng, alphabet, protein, pool, most)
    text = mutated(rng, alphabet, rng.choice(pool)[:most], rng.choice([0, 0.02, 0.1, 0.3]))
    if kind < 0.7:
        cut = rng.randint(0, len(text))
        ends = letters(rng, alphabet, length(rng, 40)), letters(rng, alphabet, length(rng, 40))
        text = text[cut:] + ends[0] if rng.random() < 0.5 else ends[1] + text[:cut]
    return reverse_complement(text) if not protein and rng.random() < 0.4 else text


def well_known(rng, protein):
    """Scores whose E-values have published constants, which need not be fitted."""
    if protein:
        matrix = (ROOT / "data/matrices/BLOSUM62").read_text()
        return Scoring(True, 11, 1, matrix=matrix), ["--matrix", "BLOSUM62"], {}
    name = rng.choice(["short", "short", "blastn"])
    match, mismatch, gap_open, gap_extend = PRESETS[name]
    words = ["--preset", name]
    return Scoring(False, gap_open, gap_extend, match, mismatch, None, default_ambiguous(words, mismatch)), words, {}


def inputs(rng, mode, max_hits=1):
    """Sequences for a mode: a dict of scoring, words for it, files, whether it is of proteins, and of pairs, strands,
    queries and targets."""
    protein, paired = rng.random() < 0.2, rng.random() < 0.2
    alphabet = list(AMINO if protein else "ACGT")
    known = mode == "local" and rng.random() < 0.9
    scoring, words, files = well_known(rng, protein) if known else make_scoring(rng, protein)
    # If whole sequences are aligned, swalign rejects scorings whose gaps could cost more than a score can hold.
    while mode != "local" and max(scoring.open, scoring.extend) > 1 << 17:
        scoring, words, files = make_scoring(rng, protein)
    strands = "+" if protein or rng.random() < 0.3 else rng.choice(["+-", "+-", "+-", "-"])
    make_texts = make_repeats if rng.random() < 0.2 else make_targets
    targets = make_texts(rng, alphabet, protein, rng.choice([1, 2, 7, 16, 33, 64, 65, 130, 257, 300, 500]))
    pool, row = [text.upper() for text in targets], sum(map(len, targets)) * len(strands)
    cells, queries = CELLS // (min(3, max_hits) if mode in ("glocal", "local") else 1), []
    while len(queries) < (len(targets) if paired else MOST_QUERIES):
        queries.append(make_text(rng, alphabet, protein, pool, max(1, cells // row)))
        if sum(map(len, queries)) * row >= cells and not paired:
            break
    if rng.random() < 0.3:
        queries, targets_again = again(rng, queries, targets if paired else None)
        targets = targets_again or targets
    words = ["--mode", mode] * (mode != "local" or rng.random() < 0.3) + words
    words += ["--alphabet", "protein" if protein else "dna"]
    words += ["--forward-only"] * (strands == "+" and not paired and not protein)
    words += ["--both-strands"] * (strands == "+-" and paired) + ["--strand", "minus"] * (strands == "-")
    return {"scoring": scoring, "words": words, "files": files, "protein": protein, "paired": paired,
            "strands": strands, "queries": queries, "targets": targets}  # fmt: skip


def case_of(rng, made, words, reference):
    """The case with these words in front of its files."""
    queries, kind, query = make_records(rng, query_names(rng, len(made["queries"])), made["queries"])
    targets = [(f"t{at}", text) for at, text in enumerate(made["targets"])]
    (query, query_zip), (target, target_zip) = packed(rng, query), packed(rng, fasta(rng, targets))
    files = made["files"] | {f"q.{kind}{query_zip}": query, f"t.fa{target_zip}": target}
    words = [*["pairs"] * made["paired"], *made["words"], *words, f"q.{kind}{query_zip}", f"t.fa{target_zip}"]
    reference |= {"scoring": made["scoring"], "paired": made["paired"]}
    return Case(words, queries, targets, files, reference)


def make(seed, small=False):
    """The case of a seed: a search or pairs in one of the modes."""
    rng = random.Random(seed)
    mode, max_hits = rng.choice(MODES), rng.choice([1, 1, 2, 3, 5, 20])
    made = inputs(rng, mode, max_hits)
    min_score = rng.choice([None, None, None, 1, rng.randint(1, 30 * made["scoring"].match)])
    ratio = rng.choice([None, None, "0", "0.5", "0.95", "1", f"{rng.random():.6f}"])
    rules = {"min_score": NEVER if min_score is None else min_score, "ppm": round(float(ratio or "0.8") * 1_000_000)}
    rules |= {"told": "none" if min_score is None else min_score, "mode": mode, "strands": made["strands"]}
    rules |= {"eqx": rng.random() < 0.3, "group": None, "circles": [], "find": finder(mode), "max_hits": max_hits, "sam": in_sam}
    words = [] if min_score is None else ["--min-score", str(min_score)]
    words += (["--secondary-ratio", ratio] if ratio else []) + ["--eqx"] * rules["eqx"]
    rules["cs"], cs_words = make_cs(random.Random(f"{seed} cs"))
    words += cs_words
    words += ["--max-hits", str(max_hits)] * (max_hits > 1)
    limits.of_records(random.Random(f"{seed} limits"), words, rules, made["paired"])
    return case_of(rng, made, words, {"rules": rules})
