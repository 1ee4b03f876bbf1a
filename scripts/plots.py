#!/usr/bin/env python3
"""Draws docs/plots/{length,pairs,references}.svg from the growth rows of scripts/bench.sh.

    scripts/plots.py [TSV] [FOLDER]    default: docs/plots/growth.tsv, docs/plots

The table may hold other rows and lines that begin with #; groups without rows are left out, loudly.
"""
import csv
import math
import pathlib
import re
import sys

PLOTS = pathlib.Path(__file__).resolve().parent.parent / "docs" / "plots"
WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 80, 30, 50, 60

# The group, which is the first word of its rows; title, x label, y label, and x and y of (number in the
# name, cells, seconds). Pairs and references are counted from the cells: --quick divides them.
GROUPS = [
    ("length", "Score and end, about 1e10 cells in pairs of n x n", "n, residues", "TCUPS, wall time",
     lambda n, cells, wall: (n, cells / wall / 1e12)),
    ("pairs", "Alignments with CIGAR, pairs of 150 x 241", "pairs of a call", "alignments per second, wall time",
     lambda n, cells, wall: (cells / (150 * 241), cells / (150 * 241) / wall)),
    ("references", "Score and end, one query of 500 against references of 1,000", "references",
     "TCUPS, wall time", lambda n, cells, wall: (cells / (500 * 1000), cells / wall / 1e12)),
]

# Grey and blue that can be read on white and on black, for viewers that know no media query.
STYLE = """<style>
  text { font: 13px sans-serif; fill: #777 } .title { font-size: 15px }
  .axis { stroke: #777; fill: none } .grid { stroke: #888; stroke-opacity: 0.3 }
  .line { stroke: #2f81d8; stroke-width: 2; fill: none } .dot { fill: #2f81d8 }
  @media (prefers-color-scheme: light) { text { fill: #333 } }
  @media (prefers-color-scheme: dark) { text { fill: #ddd } }
</style>"""


def points(table, group, place):
    """x and y of the rows of a group."""
    found = []
    for row in table:
        named = re.match(rf"{group} (\d+)", row["work"])
        if named and row["wall s"] != "-":
            found.append(place(int(named[1]), int(row["cells"]), float(row["wall s"])))
    return sorted(found)


def ticks(low, high):
    """1, 2 and 5 times powers of ten in low..high; powers alone if there are many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    every = [step * 10.0**power for power in powers for step in (1, 2, 5)]
    steps = [x for x in every if low <= x <= high]
    return steps if len(steps) <= 9 else [x for x in steps if f"{x:e}".startswith("1.0")]


def label(x):
    """0.05, 1,000, 50k, 1M."""
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if x >= unit * (1 if name == "M" else 10):
            return f"{x / unit:g}{name}"
    return f"{x:,.0f}" if x >= 1 else f"{x:g}"


def scale(values, start, end):
    """The ends of a logarithmic axis around `values`, and the place of a value between start and end."""
    low, high = min(values) / 1.3, max(values) * 1.3
    # A flat line still needs an axis that shows a tick on each side.
    middle = math.sqrt(low * high)
    low, high = min(low, middle / 4), max(high, middle * 4)

    def place(x):
        return start + (end - start) * math.log(x / low) / math.log(high / low)

    return low, high, place


def svg(title, x_label, y_label, data):
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    low_x, high_x, x_of = scale([x for x, _ in data], LEFT, right)
    low_y, high_y, y_of = scale([y for _, y in data], bottom, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">',
        STYLE,
        f'<text class="title" x="{LEFT}" y="{TOP - 22}">{title}</text>',
    ]
    for x in ticks(low_x, high_x):
        at = f"{x_of(x):.1f}"
        parts.append(f'<path class="grid" d="M{at} {TOP}V{bottom}"/>')
        parts.append(f'<text x="{at}" y="{bottom + 20}" text-anchor="middle">{label(x)}</text>')
    for y in ticks(low_y, high_y):
        at = y_of(y)
        parts.append(f'<path class="grid" d="M{LEFT} {at:.1f}H{right}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{label(y)}</text>')
    parts.append(f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{right}"/>')
    parts.append(f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 14}" text-anchor="middle">{x_label}</text>')
    parts.append(f'<text transform="translate(20 {(TOP + bottom) / 2}) rotate(-90)" text-anchor="middle">{y_label}</text>')
    places = [f"{x_of(x):.1f} {y_of(y):.1f}" for x, y in data]
    parts.append(f'<path class="line" d="M{"L".join(places)}"/>')
    for place, (x, y) in zip(places, data):
        cx, cy = place.split()
        parts.append(f'<circle class="dot" cx="{cx}" cy="{cy}" r="4"><title>{x:,.0f}: {y:.3g}</title></circle>')
    return "\n".join([*parts, "</svg>", ""])


def main(source=PLOTS / "growth.tsv", folder=PLOTS):
    with open(source, newline="") as lines:
        table = list(csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t"))
    for group, title, x_label, y_label, place in GROUPS:
        data = points(table, group, place)
        if not data:
            print(f"{source}: no rows of {group}, {group}.svg is not drawn", file=sys.stderr)
            continue
        (pathlib.Path(folder) / f"{group}.svg").write_text(svg(title, x_label, y_label, data))


if __name__ == "__main__":
    main(*sys.argv[1:])
