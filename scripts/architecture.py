#!/usr/bin/env python3
"""Draws docs/architecture.svg, which module uses which, from the tables of tests/it/architecture.rs, which that test compares with
the sources.

    scripts/architecture.py            writes it
    scripts/architecture.py --check    exit code 1 if the picture is another

A module is above all modules that it uses. A module that is reachable by other arrows has no arrow of its own; every module
uses the terms.
"""
import pathlib
import re
import sys
from html import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
RULES, PICTURE = ROOT / "tests" / "it" / "architecture.rs", ROOT / "docs" / "architecture.svg"
# Column of each module, and its purpose. A part of a module is drawn with the module.
ROLES = {
    "terms": (2.2, "terms of all modules"),
    "align/identity": (5.2, "columns of an alignment"),
    "align/significance": (6.25, "bit scores, E-values"),
    "align/complexity": (7.4, "low-complexity stretches"),
    "align/audit": (1.0, "records of others, judged"),
    "align/dedup": (7.35, "sequences, each once"),
    "input/reader": (3.5, "FASTA, FASTQ in"),
    "output/writer": (4.75, "SAM, BAM, PAF out"),
    "gpu": (2.9, "devices, buffers, submissions"),
    "patterns/scan": (3.0, "kernels of searches"),
    "engine": (1.95, "plain, cpu, gpu: scores, paths"),
    "align/candidates": (0.9, "where a hit can be"),
    "align/backtrace": (0, "from a hit to its path"),
    "align/hits": (0.9, "which alignments, which order"),
    "align/fitted": (5.1, "constants behind E-values"),
    "align/pairing": (0.3, "hits of mates, together"),
    "align/split": (1.3, "the rest of a split read"),
    "align/circles": (1.4, "hits across an origin, cut"),
    "align/end_bonus": (1.45, "scores without end bonuses"),
    "align/quality": (2.1, "mapping qualities"),
    "patterns/sliced": (2.9, "a text in every bit of a vector"),
    "align/fingerprints": (3.66, "equal stretches, equal chunks"),
    "align/repeats": (3.7, "repeats, taken out"),
    "patterns/tables": (3.3, "hash tables for lookups"),
    "patterns/search": (2.55, "patterns with errors"),
    "patterns/lines": (2.4, "lines with errors, or words"),
    "input/profile": (4.5, "profiles in"),
    "input/database": (5.5, "references that are mapped"),
    "output/audit": (5.9, "rows of an audit"),
    "output/statistics": (4.4, "a run's records summed up"),
    "output/report": (4.7, "the page and JSON of a run"),
    "api": (3.4, "public interface"),
    "pipeline": (1.6, "threads, queues, the order"),
    "cli": (1.6, "arguments, messages, signals"),
    "main": (1.6, "parse, run, exit code"),
}
# Modules that are neither drawn nor required: lib only declares modules.
LEFT_OUT = {"lib"}
WIDE, HIGH, PITCH, RISE, EDGE = 192, 58, 192, 96, 10
STYLE = """<style>
  text { font: 12px sans-serif; fill: #777; text-anchor: middle } .name { font: bold 14px sans-serif }
  .paper { fill: #fff } .box { fill: #2f81d8; fill-opacity: 0.12; stroke: #2f81d8 } .line { stroke: #888; fill: none } .head { fill: #888 }
  @media (prefers-color-scheme: light) { text { fill: #333 } }
  @media (prefers-color-scheme: dark) { text { fill: #ddd } .paper { fill: #0d1117 } }
</style>
<marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker>"""


def constant(text, name):
    return re.search(rf"const {name}: .*?= &?\[(.*?)\n?\];", text, re.S)[1]


def rules(text):
    """What each module knows, the terms as one, and the crates that are named in one module only."""
    rooms = set(re.findall(r'"(\w+)"', constant(text, "ROOMS")))
    whole = lambda name: "/".join(name.split("/")[: 2 if name.split("/")[0] in rooms else 1])
    knows = {}
    for module, known in re.findall(r'\(\s*"([\w/]+)",\s*&\[(.*?)\],?\s*\)', constant(text, "MAY_KNOW"), re.S):
        knows.setdefault(whole(module), set()).update(whole(name) for name in re.findall(r'"([\w/]+)"', known))
    crates = {}
    for things, places in re.findall(r"\(\s*&\[(.*?)\],\s*&\[(.*?)\],?\s*\)", constant(text, "BELONGS_TO"), re.S):
        homes = {whole(place) for place in re.findall(r'"([\w/]+)"', places)}
        for thing in re.findall(r'"([a-z_0-9]+)"', things):
            for home in homes:
                crates.setdefault(home, []).append(thing)
    knows = {module: known - {module} for module, known in knows.items() if module not in LEFT_OUT}
    return {module: known | ({"terms"} if module != "terms" else set()) for module, known in knows.items()}, crates


def levels(knows):
    """How far each module stands above the terms."""
    found = {}

    def level(module):
        if module not in found:
            found[module] = 0
            found[module] = 1 + max((level(known) for known in knows[module]), default=-1)
        return found[module]

    for module in knows:
        level(module)
    return found


def arrows(knows):
    """Those that no other way replaces."""
    def reached(module):
        return set().union(*({known} | reached(known) for known in knows[module]))

    direct = lambda module: [k for k in knows[module] if not any(k in reached(other) for other in knows[module] - {k})]
    return {module: sorted(direct(module)) for module in knows}


def columns(knows, level):
    """The column of each module, moved to the right where modules of one level would overlap."""
    found = {}
    for height in set(level.values()):
        free = 0
        for module in sorted((m for m in knows if level[m] == height), key=lambda module: ROLES[module][0]):
            found[module] = max(ROLES[module][0], free)
            free = found[module] + 1.05
    return found


def fitted(text, width, size):
    """The attributes that shrink a text of `size` pixels to a box of `width`."""
    return "" if len(text) * 0.56 * size < width - 12 else f' textLength="{width - 12}" lengthAdjust="spacingAndGlyphs"'


def draw(text):
    knows, crates = rules(text)
    if missing := knows.keys() - ROLES.keys():
        sys.exit(f"{__file__}: ROLES lacks {', '.join(sorted(missing))} of {RULES}")
    drawn = arrows(knows)
    level = levels(knows)
    top = max(level.values())
    column = columns(knows, level)
    width = 2 * EDGE + int(max(column.values()) * PITCH) + WIDE
    height = 2 * EDGE + top * RISE + HIGH
    place = {module: (EDGE + column[module] * PITCH, EDGE + (top - level[module]) * RISE) for module in knows}
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">', STYLE]
    for module, known in drawn.items():
        x, y = place[module]
        for to in known:
            a, b = place[to]
            begin, end, bend = (x + WIDE / 2, y + HIGH), (a + WIDE / 2, b - 2), (b - y - HIGH) / 2
            parts.append(f'<path class="line" marker-end="url(#head)" d="M{begin[0]:.0f} {begin[1]}C{begin[0]:.0f} {begin[1] + bend:.0f} '
                         f'{end[0]:.0f} {end[1] - bend:.0f} {end[0]:.0f} {end[1]}"/>')
    terms = ", ".join(sorted(path.stem for path in (ROOT / "src" / "terms").glob("*.rs")))
    for module, (x, y) in place.items():
        only = crates.get(module, []) if module != "terms" else []
        role, wide = (terms, WIDE + 330) if module == "terms" else (ROLES[module][1], WIDE)
        parts.append(f'<rect class="paper" x="{x - (wide - WIDE) / 2:.0f}" y="{y}" width="{wide}" height="{HIGH}" rx="6"/>')
        parts.append(f'<rect class="box" x="{x - (wide - WIDE) / 2:.0f}" y="{y}" width="{wide}" height="{HIGH}" rx="6"/>')
        middle = x + WIDE / 2
        lines = [(19, ' class="name"', 14, module), (35, "", 12, role), (50, "", 12, ", ".join(only))]
        for down, kind, size, line in lines if only else lines[:2]:
            parts.append(f'<text{kind} x="{middle:.0f}" y="{y + down}"{fitted(line, wide, size)}>{escape(line)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def main(check):
    picture = draw(RULES.read_text())
    if check and (not PICTURE.exists() or PICTURE.read_text() != picture):
        sys.exit(f"{PICTURE} is not what {RULES} says: run scripts/architecture.py")
    if not check:
        PICTURE.write_text(picture)


if __name__ == "__main__":
    match sys.argv[1:]:
        case [] | ["--check"]:
            main(check=len(sys.argv) > 1)
        case _:
            sys.exit(__doc__)
