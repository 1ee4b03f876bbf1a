"""What other options of `swalign search` must write, from the rows of --format tab: columns and orientation (docs/output.md),
the summary, and amplicons."""

import re
from collections import Counter

from .reference import COMPLEMENT, reverse_complement

COLUMNS = ["text", "start", "end", "pattern", "strand", "edits", "cigar", "match", "line", "pattern_aligned", "text_aligned",
           "pattern_len", "text_len", "mismatches", "insertions", "deletions", "gaps", "edits_last1", "edits_last3",
           "edits_last5", "last_run", "before", "after"]  # fmt: skip
# Maximum number of edits that a summary counts.
MOST_COUNTED = 64
AMPLICON = ["text", "start", "end", "length", "pair", "strand", "forward", "forward_end", "forward_edits", "reverse",
            "reverse_start", "reverse_edits"]  # fmt: skip


class Hit:
    """A row of --format tab."""

    def __init__(self, row, patterns, texts):
        self.text, start, end, self.pattern, self.strand, edits, self.cigar, self.match, *pam = row
        self.start, self.end, self.edits = int(start), int(end), int(edits)
        self.pam = pam[0] if pam else None
        self.letters, self.text_len = patterns[self.pattern].upper(), len(texts[self.text])

    def steps(self, as_pattern):
        """(step, letter of the pattern, letter of the text), in the text's order or the pattern's."""
        pattern = iter(self.letters if self.strand == "+" else reverse_complement(self.letters))
        text = iter(self.match)
        kinds = "".join(int(count) * kind for count, kind in re.findall(r"(\d+)(.)", self.cigar))
        steps = [(kind, "-" if kind == "D" else next(pattern), "-" if kind == "I" else next(text)) for kind in kinds]
        if as_pattern and self.strand == "-":
            pattern = iter(self.letters)
            steps = [(kind, p if p == "-" else next(pattern), t.translate(COMPLEMENT)) for kind, p, t in reversed(steps)]
        return steps

    def cells(self, as_pattern):
        """All columns by name."""
        steps = self.steps(as_pattern)
        counts = Counter(kind for kind, _, _ in steps)
        behind = steps[::-1] if as_pattern or self.strand == "+" else steps
        last, taken = Counter(), 0
        for kind, letter, _ in behind:
            taken += letter != "-"
            for size in (1, 3, 5):
                last[size] += kind != "=" and taken <= size
        turned = as_pattern and self.strand == "-"
        cells = {name: getattr(self, name) for name in COLUMNS[:8]}
        cells["cigar"] = "".join(re.findall(r"\d+.", self.cigar)[:: -1 if turned else 1])
        if as_pattern:
            cells["match"] = "".join(t if kind == "=" else t.lower() for kind, _, t in steps if t != "-")
        cells["pam"] = reverse_complement(self.pam) if turned and self.pam else self.pam
        cells["line"] = "".join({"=": "|", "X": "."}.get(kind, "-") for kind, _, _ in steps)
        cells["pattern_aligned"], cells["text_aligned"] = ("".join(step[at] for step in steps) for at in (1, 2))
        cells |= {"pattern_len": len(self.letters), "text_len": self.text_len}
        cells |= {"mismatches": counts["X"], "insertions": counts["I"], "deletions": counts["D"]}
        cells["gaps"] = counts["I"] + counts["D"]
        cells |= {f"edits_last{size}": last[size] for size in (1, 3, 5)}
        cells["last_run"] = next((at for at, step in enumerate(behind) if step[0] != "="), len(behind))
        across = self.end > self.text_len
        after = self.text_len - 1 - (self.end - 1) % self.text_len if across else self.text_len - self.end
        cells |= {"before": self.start, "after": after}
        return cells


def table(rng, hits, pam):
    """Words for columns, and the table."""
    names = rng.sample(COLUMNS + ["pam"] * pam, rng.randint(1, 12))
    as_pattern = rng.random() < 0.6
    words = ["--columns", ",".join(names), "--orient", "pattern" if as_pattern else "text"]
    cells = [hit.cells(as_pattern) for hit in hits]
    return words, ["\t".join(names), *("\t".join(str(row[name]) for name in names) for row in cells)]


def summary(hits, patterns, texts, most):
    """The table of --summary; patterns have names of their own."""
    head = ["pattern", "length", "hits", "best", "best_hits", "unique", "texts_with", "texts_without"]
    lines = ["\t".join(head + [f"edits_{edits}" for edits in range(most + 1)])]
    for name, letters in patterns:
        own = [hit for hit in hits if hit.pattern == name]
        counts = Counter(hit.edits for hit in own)
        best = min(counts, default="*")
        unique = "*" if not own else "yes" if counts[best] == 1 else "no"
        found = len({hit.text for hit in own})
        row = [name, len(letters), len(own), best, counts[best], unique, found, len(texts) - found]
        lines.append("\t".join(map(str, row + [counts[edits] for edits in range(most + 1)])))
    return lines


def facing(hits, pair_of, least, most):
    """(forward, reverse, pair, strand, length) of all hits of one text that face each other, in order; `pair_of` gives the
    pairs of two patterns as (name, strand)."""
    found = []
    for forward in (hit for hit in hits if hit.strand == "+"):
        for reverse in (hit for hit in hits if hit.strand == "-" and hit.text == forward.text):
            length = reverse.end - forward.start
            if forward.start <= reverse.start and forward.end <= reverse.end and least <= length <= most:
                pairs = pair_of(forward.pattern, reverse.pattern)
                found += [(forward, reverse, *pair, length) for pair in pairs]
    return found


def amplicons(rng, hits, patterns, texts):
    """Words for amplicons, the files that they need, and what is written."""
    place = {name: at for at, (name, _) in enumerate(patterns)}
    text_place = {name: at for at, (name, _) in enumerate(texts)}
    letters = {name: text.upper() for name, text in texts}
    least = rng.choice([1, 1, 5, 40])
    most = rng.choice([least, least + 10, 300, 4000, 1 << 40])
    words, files = ["--amplicon-size", f"{least}..{most}"], {}
    if len(patterns) == 1 or rng.random() < 0.5:
        words += ["--amplicons", "any"]
        named = lambda a, b: f"{a},{b}" if place[a] <= place[b] else f"{b},{a}"
        pair_of = lambda f, r: [(named(f, r), "+" if place[f] <= place[r] else "-")]
    else:
        names = [name for name, _ in patterns]
        listed = [(rng.choice(names), rng.choice(names)) for _ in range(rng.randint(1, 8))]
        files["pairs.tsv"] = "".join(f"{a}\t{b}\n" for a, b in listed).encode()
        words += ["--amplicons", "--pairs", "pairs.tsv"]
        known = []
        for a, b in listed:
            if (a, b) not in known and (b, a) not in known:
                known.append((a, b))
        first = lambda f, r: [(f"{a},{b}", "+") for a, b in known if (f, r) == (a, b)]
        second = lambda f, r: [(f"{a},{b}", "-") for a, b in known if (f, r) == (b, a) and a != b]
        pair_of = lambda f, r: first(f, r) + second(f, r)
    found = facing(hits, pair_of, least, most)
    found.sort(key=lambda it: (text_place[it[0].text], it[0].start, it[1].end, place[it[0].pattern],
                               place[it[1].pattern], it[0].end, it[1].start))  # fmt: skip
    form = rng.choice(["tab", "tab", "bed", "fasta", "count"])
    lines = []
    for f, r, pair, strand, length in found:
        if form == "tab":
            sites = f.pattern, f.end, f.edits, r.pattern, r.start, r.edits
            lines.append("\t".join(map(str, (f.text, f.start, r.end, length, pair, strand, *sites))))
        elif form == "bed":
            lines.append("\t".join(map(str, (f.text, f.start, r.end, pair, f.edits + r.edits, strand))))
        elif form == "fasta":
            lines.append(f">{f.text}:{f.start}-{r.end}({strand}) pair={pair} forward={f.pattern} "
                         f"forward_edits={f.edits} reverse={r.pattern} reverse_edits={r.edits}")  # fmt: skip
            between = letters[f.text][f.start : r.end]
            lines.append(between if strand == "+" else reverse_complement(between.replace("U", "T")))
    if form == "count":
        counts = Counter(f.text for f, *_ in found)
        lines = [f"{name}\t{counts[name]}" for name, _ in texts]
    head = {"tab": ["\t".join(AMPLICON)], "count": ["text\tamplicons"]}.get(form, [])
    return [*words, "--format", form], files, head + lines
