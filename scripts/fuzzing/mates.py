"""The reference of mates: which hits of two reads go together (docs/algorithm.md, section 16), and what records say of it.

Like the reference of single reads it is written from the definitions, and shares no code with the crate.
"""

import math

from .reference import (
    cigar_of, cut_primary, first_by_hash, first_end, hits, locus, mapping_quality, priority, reverse_complement, threshold, walk,
    written,
)  # fmt: skip

MOST, REACH, UNPAIRED = 64, 18, 17
PAIRED, PROPER, MATE_UNMAPPED, MATE_REVERSE, FIRST, LAST = 1, 2, 8, 32, 64, 128
ASSUMED = (400, 150, "fr")


def cost(steps):
    """What an insert costs that is so many sixteenths of a deviation from the mean, in matches of 1 / 1024."""
    return math.floor(1024 * -0.721 * math.log(2 * math.erfc(steps / 16 / math.sqrt(2))) + 0.5)


COSTS = [cost(steps) for steps in range(65)]


def five_prime(hit):
    return hit["place"][1] if hit["strand"] == "-" else hit["place"][0]


def insert_of(one, other):
    """Size and orientation of two hits; None where they have none."""
    between = five_prime(other) - five_prime(one)
    if one["target"] != other["target"] or between == 0:
        return None
    if one["strand"] == other["strand"]:
        return abs(between), "ff"
    forward_first = (between > 0) == (one["strand"] == "+")
    return abs(between), "fr" if forward_first else "rf"


def allowed(insert):
    mean, deviation, _ = insert
    return max(1, mean - 4 * deviation), mean + 4 * deviation


def proper(insert, one, other):
    """The insert of two hits that are a proper pair, else None."""
    size, orientation = insert_of(one, other) or (0, "")
    least, most = allowed(insert)
    return size if orientation == insert[2] and least <= size <= most else None


def pair_score(insert, one, other, a):
    mean, deviation, _ = insert
    steps = min(64, abs(proper(insert, one, other) - mean) * 16 // deviation)
    return (1024 * (one["score"] + other["score"]) - COSTS[steps] * a + 511) // 1024


def estimate(pairs, searched):
    """Mean, deviation and orientation that the first pairs show."""
    sizes = {"fr": [], "rf": [], "ff": []}
    for pair in pairs[:20_000]:
        found = [searched(letters) for letters in pair]
        if not all(found):
            continue
        repeated = any(len(of) > 1 and of[1]["score"] * 5 >= of[0]["score"] * 4 for of in found)
        size, orientation = insert_of(found[0][0], found[1][0]) or (0, "fr")
        if not repeated and 0 < size <= 10_000:
            sizes[orientation].append(size)
    orientation = max(sizes, key=lambda orientation: len(sizes[orientation]))
    of = sorted(sizes[orientation])
    if len(of) < 10:
        return ASSUMED
    low, high = of[len(of) // 4], of[len(of) * 3 // 4]
    kept = [size for size in of if low - 2 * (high - low) <= size <= high + 2 * (high - low)]
    mean = (sum(kept) + len(kept) // 2) // len(kept)
    deviation = math.isqrt(sum((size - mean) ** 2 for size in kept) // len(kept))
    return max(1, mean), max(10, deviation), orientation


def longest_span(letters, least, scoring):
    """Letters of a target that an alignment of that score can cover at most."""
    most = sum(max(0, *scoring.score[q].values()) for q in letters)
    return len(letters) + max(0, (most - least - scoring.open) // scoring.extend)


def window(insert, hit, span):
    """The strand and the columns that hold the mate of a hit in a proper pair."""
    (least, most), end, forward = allowed(insert), five_prime(hit), hit["strand"] == "+"
    if insert[2] == "fr":
        return ("-", end, end + most) if forward else ("+", end - most, end)
    if insert[2] == "rf":
        return ("-", end - most - span, end - least) if forward else ("+", end + least, end + most + span)
    return hit["strand"], end - most - span, end + most + span


def overlap(one, other):
    same = (one["target"], one["strand"]) == (other["target"], other["strand"])
    return same and one["place"][0] < other["place"][1] and other["place"][0] < one["place"][1]


def rescued(insert, letters, own, others, targets, scoring, min_score, a):
    """Alignments of a read beside the hits `own` of its mate, the read's own hits being `others`."""
    if not own:
        return []
    alone = own[0]["score"] + (others[0]["score"] if others else 0) - UNPAIRED * a
    least = max(1, -(-min_score * 3 // 4))
    span = max(longest_span(scoring.read(text), least, scoring) for text in (letters, reverse_complement(letters)))
    found = []
    for hit in own:
        if any(proper(insert, hit, other) is not None for other in others):
            continue
        strand, left, right = window(insert, hit, span)
        target = scoring.read(targets[hit["target"]][1])
        left, right = (max(0, min(len(target), at)) for at in (left, right))
        query = scoring.read(reverse_complement(letters) if strand == "-" else letters)
        end = first_end(query, target[left:right], scoring) if query and left < right else None
        if not end or end[0] < max(least, alone - hit["score"] - a + 1):
            continue
        score, column, row = end
        path, i, j = walk(query, target[left:right], scoring, row, column)
        found.append({"score": score, "strand": strand, "target": hit["target"], "path": path,
                      "query": (i, row + 1), "place": (left + j, left + column + 1)})
    kept = []
    for hit in sorted(found, key=locus):
        if not any(overlap(hit, other) for other in [*others, *kept]):
            kept.append(hit)
    return kept


def choose(pair, targets, scoring, rules, insert, read):
    """What is found of both mates, and whether they are a proper pair. `read` is the name of the pair."""
    a = max(max(row.values()) for row in scoring.score.values())
    numbered = [(number, target) for number, (_, target) in targets.items()]
    near = lambda best: max(rules["min_score"], min(best - REACH * a, threshold(best, rules["ppm"], 1)))
    most = max(MOST, rules["max_hits"], 2)
    of = [hits(letters, numbered, scoring, "+-", rules["min_score"], near, most) for letters in pair]
    candidates = [[hit for hit in own[:MOST] if hit["score"] >= own[0]["score"] - REACH * a] for own in of]
    best = [own[0]["score"] if own else 0 for own in of]
    alone = sum(best) - UNPAIRED * a
    more = [rescued(insert, pair[at], candidates[1 - at], candidates[at], targets, scoring, rules["min_score"], a)
            for at in (0, 1)]
    to_choose = [sorted(candidates[at] + more[at], key=locus) for at in (0, 1)]
    choices = []
    for i, one in enumerate(to_choose[0]):
        for j, other in enumerate(to_choose[1]):
            if proper(insert, one, other) is not None and pair_score(insert, one, other, a) > alone:
                choices.append((-pair_score(insert, one, other, a), i, j))
    choices.sort()
    together, chosen = 0, choices[0] if choices else None
    if choices and rules.get("hash"):
        tied = [choice for choice in choices if choice[0] == choices[0][0]]
        chosen = min(tied, key=lambda choice: priority(read, targets, to_choose[0][choice[1]], to_choose[1][choice[2]]))
    elif rules.get("hash"):
        of = [own and first_by_hash(read, targets, own, rules) for own in of]
    if choices:
        second = -choices[1][0] if len(choices) > 1 else alone
        close = max(a + scoring.mismatch, scoring.open + scoring.extend)
        others = sum(second + choice[0] <= close for choice in choices[1:])
        lost = math.floor(4.343 * math.log(others + 1) + 0.499) if others else 0
        together = max(0, min(60, math.floor(6.02 * (-choices[0][0] - second) / a + 0.499) - lost))
    result = []
    for at, own in enumerate(of):
        second = own[1] if len(own) > 1 else None
        place = chosen[1 + at] if choices else 0
        hit = to_choose[at][place] if choices else own[0] if own else None
        if choices and place > 0 and own:
            second = own[0]
        least = near(own[0]["score"]) if own else rules["min_score"]
        quality = mapping_quality(scoring, hit, second, least) if hit else 0
        if choices and quality <= together:
            quality = min(together, quality + 40)
        reported = [other for other in own if other["score"] >= threshold(best[at], rules["ppm"], rules["min_score"])]
        if choices:
            reported = [hit] + [other for other in reported if not overlap(hit, other)]
        result.append({"hits": reported[: rules["max_hits"]], "second": second, "quality": quality})
    return result, bool(choices)


def mate_of(found, record, is_proper, is_first, targets, scoring, rules, own):
    """What the lines of a read tell of its mate, for which that was found."""
    name, letters, qualities = record
    flags = PAIRED | (FIRST if is_first else LAST)
    tags, place, end = [], None, None
    if found["hits"]:
        hit = found["hits"][0]
        flags |= MATE_REVERSE * (hit["strand"] == "-")
        rname = targets[hit["target"]][0]
        place, end = (rname, hit["place"][0] + 1), (rname, five_prime(hit))
        tags = [f"MC:Z:{cigar_of(letters, hit, targets, scoring, rules)[0]}", f"MQ:i:{found['quality']}"]
    else:
        flags |= MATE_UNMAPPED
        if own["hits"]:
            # An unmapped read has the position of its mate.
            hit = own["hits"][0]
            place = (targets[hit["target"]][0], hit["place"][0] + 1)
    if qualities is not None:
        tags.append(f"ms:i:{sum(ord(value) - 33 for value in qualities if ord(value) - 33 >= 15)}")
    return {"flags": (flags, PROPER * is_proper), "place": place, "end": end, "tags": tags,
            "suffix": "/1" if is_first else "/2"}


def further_of(hit, is_first, targets):
    """What the line of a further hit tells of its partner."""
    rname = targets[hit["target"]][0]
    flags = PAIRED | PROPER | (FIRST if is_first else LAST) | MATE_REVERSE * (hit["strand"] == "-")
    return {"flags": flags, "place": (rname, hit["place"][0] + 1), "end": (rname, five_prime(hit))}


def further_pairs(found, insert, scoring):
    """For each further hit of both mates the other mate's further hit that it is a proper pair with, or None: the pair with the
    highest score first, of equal ones that whose hits come first."""
    a = max(max(row.values()) for row in scoring.score.values())
    further = [own["hits"][1:] for own in found]
    pairs = [(-pair_score(insert, one, other, a), i, j)
             for i, one in enumerate(further[0])
             for j, other in enumerate(further[1])
             if proper(insert, one, other) is not None]
    partners = [[None] * len(hits) for hits in further]
    for _, i, j in sorted(pairs):
        if partners[0][i] is None and partners[1][j] is None:
            partners[0][i], partners[1][j] = further[1][j], further[0][i]
    return partners


def lines(pair, targets, scoring, rules, insert):
    """The lines of both mates in SAM and in PAF. Records are (name, letters, qualities or None)."""
    differ = pair[0][0] != pair[1][0]
    names = [name[:-2] if differ and name[-2:-1] in tuple("/._:") else name for name, _, _ in pair]
    pair = [(name, letters, qualities) for name, (_, letters, qualities) in zip(names, pair)]
    read = names[0].split()[0] if names[0] else ""
    found, is_proper = choose([letters for _, letters, _ in pair], targets, scoring, rules, insert, read)
    found = [cut_primary(letters, own, targets, scoring, rules) for (_, letters, _), own in zip(pair, found)]
    # A cut may move the 5' end of a mate.
    is_proper = is_proper and proper(insert, found[0]["hits"][0], found[1]["hits"][0]) is not None
    sam, paf = [], []
    partners = further_pairs(found, insert, scoring)
    for own, other in ((0, 1), (1, 0)):
        mate = mate_of(found[other], pair[other], is_proper, own == 0, targets, scoring, rules, found[own])
        mate["further"] = [hit and further_of(hit, own == 0, targets) for hit in partners[own]]
        of = written(pair[own], found[own], targets, scoring, rules, mate)
        sam, paf = sam + of[0], paf + of[1]
    return sam, paf
