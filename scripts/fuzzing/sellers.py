"""What `swalign search` and `swalign grep` must write, from docs/algorithm.md, sections 13 and 14."""

import math
import re
from functools import lru_cache

from .reference import COMPLEMENT, runs

IUPAC = {"A": "A", "C": "C", "G": "G", "T": "T", "U": "T", "R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT",
         "M": "AC", "B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG"}  # fmt: skip


def matches(code, letter):
    return code == "N" or letter in IUPAC[code]


def columns(pattern, text, matches):
    """D as a list of columns, that before the text first (Sellers 1980)."""
    D = [list(range(len(pattern) + 1))]
    rows = {letter: [not matches(code, letter) for code in pattern] for letter in set(text)}
    for letter in text:
        column, above = [0], 0
        for differs, diagonal, left in zip(rows[letter], D[-1], D[-1][1:]):
            above = min(diagonal + differs, left + 1, above + 1)
            column.append(above)
        D.append(column)
    return D


def walk(D, pattern, text, j):
    """The path of the end behind `j` letters, backwards: =, X, D and I."""
    i, path = len(pattern), []
    while i > 0:
        differs = j == 0 or not matches(pattern[i - 1], text[j - 1])
        if j > 0 and D[j][i] == D[j - 1][i - 1] + differs:
            path.append("X" if differs else "=")
            i, j = i - 1, j - 1
        elif j > 0 and D[j][i] == D[j - 1][i] + 1:
            path.append("D")
            j -= 1
        else:
            path.append("I")
            i -= 1
    return path[::-1], j


def ends(pattern, text, k, indels):
    """Ends with their edits, and a function from an end to its path and start."""
    if indels:
        D = columns(pattern, text, matches)
        return {j: D[j][-1] for j in range(1, len(D)) if D[j][-1] <= k}, lambda j: walk(D, pattern, text, j)
    m = len(pattern)
    steps = lambda j: ["=" if matches(p, t) else "X" for p, t in zip(pattern, text[j - m : j])]
    edits = {j: steps(j).count("X") for j in range(m, len(text) + 1)}
    return {j: n for j, n in edits.items() if n <= k}, lambda j: (steps(j), j - m)


def limited_ends(pattern, text, k, limits):
    """The same with at most so many insertions, deletions and replaced letters, tried one by one."""

    @lru_cache(None)
    def fewest(i, j, left, lettered):
        """The fewest edits on the way from a cell back to row 0, and the first step of the first such way."""
        if i == 0:
            return (0, "") if lettered else (math.inf, "")
        ways = []
        differs = j == 0 or not matches(pattern[i - 1], text[j - 1])
        for kind, allowed in (("X" if differs else "=", j > 0), ("D", j > 0), ("I", True)):
            after = {**dict(left), kind: dict(left).get(kind, 1) - (kind != "=")}
            if kind in "DI" and "G" in after:
                after["G"] -= 1
            if allowed and after[kind] >= 0 and after.get("G", 0) >= 0:
                to = i - (kind != "D"), j - (kind != "I"), tuple(after.items()), lettered or kind != "I"
                ways.append((fewest(*to)[0] + (kind != "="), kind, to))
        return min(ways, key=lambda way: way[0], default=(math.inf, ""))

    def path(j):
        state, steps = (len(pattern), j, tuple(limits.items()), False), ""
        while state[0] > 0:
            _, kind, state = fewest(*state)
            steps = kind + steps
        return steps, state[1]

    edits = {j: fewest(len(pattern), j, tuple(limits.items()), False)[0] for j in range(1, len(text) + 1)}
    return {j: n for j, n in edits.items() if n <= k}, path


def local_minima(at, period=None, constant=None, first=0):
    """The ends that are reported: none beside them has fewer edits. Of adjacent ends with the same edits, unless these
    are 0, it is the first. Ends of a circle have a period; if all have the same edits it is the end `constant`."""
    edits = lambda j: at.get(j if period is None else first + (j - first) % period, math.inf)
    chosen = []
    for j in sorted(at):
        after = j + 1
        while edits(after) == at[j] and (period is None or after < j + period):
            after += 1
        is_constant = period is not None and after == j + period
        if at[j] == 0 or (j == constant if is_constant else edits(j - 1) > at[j] < edits(after)):
            chosen.append(j)
    return chosen


def with_pam(pam, side, strand, text, j):
    """Whether the letters behind the first `j` of a text, which is read towards the PAM, are the PAM."""
    turned = pam.upper() if strand == "+" else pam.upper().translate(COMPLEMENT)[::-1]
    turned = turned if (side == "3") == (strand == "+") else turned[::-1]
    behind = text[j : j + len(turned)]
    return len(behind) == len(turned) and all(map(matches, turned, behind))


def search(patterns, texts, k, limits=None, indels=True, strands="+-", all=False, best=False, first=False, rate=None,
           pam=None, side="3", circular=()):  # fmt: skip
    """The lines of --format tab. `patterns` and `texts` are (name, letters); `limits` has the most I, D and X, and G of
    I and D together; `rate` is (a, b) for floor(a / b * length) edits. Where a PAM lies in front of a hit, pattern and
    text are read backwards. A text whose name is in `circular` is repeated so often that its middle copy sees no end."""
    lines = ["text\tstart\tend\tpattern\tstrand\tedits\tcigar\tmatch" + ("\tpam" if pam else "")]
    for name, letters in texts:
        read, hits = letters.upper().replace("U", "T"), []
        for number, (_, pattern) in enumerate(patterns):
            for strand in strands:
                turned = pattern.upper() if strand == "+" else pattern.upper().translate(COMPLEMENT)[::-1]
                backwards = pam is not None and (side == "3") != (strand == "+")
                way = -1 if backwards else 1
                most = len(pattern) * rate[0] // rate[1] if rate else k
                turned, text = turned[::way], read[::way]
                period, letters_there = None, letters.upper()
                if name in circular and text:
                    period, copies = len(text), (2 * len(pattern) + 40) // len(text) + 1
                    text *= 2 * copies + 1
                    letters_there *= 2 * copies + 1
                at, path = limited_ends(turned, text, most, limits) if limits else ends(turned, text, most, indels)
                if pam:
                    at = {j: n for j, n in at.items() if with_pam(pam, side, strand, text, j)}
                constant = begin = 0
                if period:
                    begin = copies * period + 1
                    at = {j: n for j, n in at.items() if begin <= j < begin + period}
                    constant = begin if backwards else begin + period - 1
                for j in sorted(at) if all else local_minima(at, period, constant, begin):
                    steps, start = path(j)
                    start, end = (len(text) - j, len(text) - start) if backwards else (start, j)
                    size = len(pam or "")
                    beside = letters_there[start - size : start] if backwards else letters_there[end : end + size]
                    if period:
                        start, end = start % period, start % period + end - start
                    hits.append((start, end, number, strand, at[j], runs(steps[::way]), beside))
        if best and hits:
            fewest = min(hit[4] for hit in hits)
            hits = [hit for hit in hits if hit[4] == fewest]
        for start, end, number, strand, edits, cigar, beside in sorted(hits)[: 1 if first else None]:
            copies = -(-end // len(letters)) if letters else 1
            found = patterns[number][0], strand, edits, cigar, (letters.upper() * copies)[start:end]
            found += (beside,) if pam else ()
            lines.append("\t".join(map(str, (name, start, end, *found))))
    return lines


def grep(patterns, lines, k, indels=True, ignore_case=False, invert=False):
    """The lines with a stretch that is at most `k` edits from one of the patterns, lists of classes as Python's
    regular expressions have them."""

    def found(pattern, line):
        classes = [re.compile(place, re.IGNORECASE * ignore_case | re.DOTALL) for place in pattern]
        same = lambda place, letter: place.fullmatch(letter) is not None
        if indels:
            return any(column[-1] <= k for column in columns(classes, line, same))
        windows = (line[at : at + len(classes)] for at in range(len(line) - len(classes) + 1))
        return any(sum(not same(p, t) for p, t in zip(classes, window)) <= k for window in windows)

    return [line for line in lines if any(found(pattern, line) for pattern in patterns) != invert]


def occurrences(words, line, ignore_case, where):
    """(start, end) of the words in a line, as `where` (None, "-w", "-x" or "--prefix") allows."""
    low = lambda text: text.lower() if ignore_case else text
    is_word = lambda at: 0 <= at < len(line) and (line[at].isalnum() or line[at] == "_")
    allowed = {
        None: lambda start, end: True,
        "-x": lambda start, end: (start, end) == (0, len(line)),
        "--prefix": lambda start, end: start == 0,
        "-w": lambda start, end: not is_word(start - 1) and not is_word(end),
    }[where]
    for number, word in enumerate(words):
        for start in range(len(line) - len(word) + 1):
            end = start + len(word)
            if low(line[start:end]) == low(word) and allowed(start, end):
                yield number, start, end


def words_of_lines(words, lines, output, ignore_case=False, invert=False, where=None):
    """The lines of `swalign grep -F` for words of ASCII, in one file: `output` is None, "-o", "-n", "-c" or
    "--count-by-pattern"."""
    found = [list(occurrences(words, line, ignore_case, where)) for line in lines]
    if output == "--count-by-pattern":
        counts = [sum(number == at for own in found for number, _, _ in own) for at in range(len(words))]
        return [f"{count}\t{word}" for count, word in zip(counts, words)]
    selected = [at for at, own in enumerate(found) if bool(own) != invert]
    if output == "-c":
        return [str(len(selected))]
    if output == "-n":
        return [f"{at + 1}:{lines[at]}" for at in selected]
    if output is None:
        return [lines[at] for at in selected]
    shown = []
    for line, own in zip(lines, found):
        at = 0
        while rest := [(start, -end) for _, start, end in own if start >= at and end > start]:
            start, end = min(rest)
            shown, at = shown + [line[start:-end]], -end
    return shown
