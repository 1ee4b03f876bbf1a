"""Tables and plots of docs/benchmarks.md from docs/benchmarks.tsv, docs/mates.tsv and docs/evalues.tsv."""
import csv
import math
import pathlib
import re
import sys
from html import escape

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
SOURCE, PAGE, PLOTS = DOCS / "benchmarks.tsv", DOCS / "benchmarks.md", DOCS / "plots"
MATES = DOCS / "mates.tsv"
EVALUES = DOCS / "evalues.tsv"

# The tables of the page, by the name in `<!-- table NAME -->`: the header, and the rows.
TABLES = {
    "main": (("work", "ours", "best peer", "memory of ours", "command"), [
        ("1,000,000 reads of 150 on E. coli W, SAM, two cores", "{ecoli.two}", "minimap2 {ecoli.minimap2}", "{two.mem}",
         "`swalign -t 2 --device cpu reads.fq ecoli.fa`"),
        ("the same, one H200", "{ecoli.gpu}", "", "{ecoli.gpu.mem}", "`swalign reads.fq ecoli.fa`"),
        ("1,000,000 reads of 150 on E. coli W, SAM, 16 threads of another H200 machine; its GPU", "{reads16.cpu}; {reads16.gpu}", "minimap2 {reads16.minimap2}, 16 threads", "",
         "`swalign -t 16 --device cpu reads.fq ecoli.fa`"),
        ("1,000,000 reads of 150 on SARS-CoV-2, SAM, two cores", "{sars2.two}", "minimap2 {sars2.minimap2}", "{two.mem}",
         "`swalign -t 2 --device cpu reads.fq data/sars2.fa`"),
        ("the same, one H200", "{sars2.gpu}", "", "{sars2.gpu.mem}", "`swalign reads.fq data/sars2.fa`"),
        ("the same without a filter, 8.97e12 cells, one H200, 32 cores", "{exhaustive}", "", "{exhaustive.mem}", "`swalign --filter none reads.fq data/sars2.fa`"),
        ("two reads on SARS-CoV-2, start to end, one H200", "{two-reads}", "", "{two-reads.mem}",
         "`swalign --device gpu two.fq data/sars2.fa`"),
        ("1,000,000 alignments of 150 x 241 from buffers, one H200", "{million}", "GASAL2 `-t` {million.gasal2}", "",
         '`cargo bench --bench engine -- only="align 1,000,000"`'),
        ("1,000,000 pairs, FASTA to SAM, one H200, 32 cores", "{commands.pairs}", "GASAL2 `-t` without output {commands.pairs.gasal2} ¹",
         "{commands.pairs.mem}",
         "`swalign pairs q.fa t.fa -o out.sam`"),
        ("200 x 500 sequences of 150 and 500, CIGARs, one core", "{core}", "SSW {ssw}", "", "`scripts/benchmarks/run peers`"),
        ("2000 patterns of 20 with 3 edits in 10 Mbp, one core", "{search.many}", "sassy {search.many.sassy}", "",
         "`cargo bench --bench search -- threads=1`"),
        ("one such pattern in 100 Mbp, one core", "{search.one}", "sassy {search.one.sassy}", "", "as above"),
        ("lines with a word of 10 characters and 2 edits, 92 MB, one core", "{grep.two}", "agrep {grep.two.agrep}", "",
         "`swalign grep -t 1 -k 2 individual FILE`"),
        ("the same word without errors", "{grep.none}", "**ugrep {grep.none.ugrep}**", "", "`swalign grep -t 1 individual FILE`"),
        ("scores of 131,072 pairs of DNA of 512, kernels, one H200", "{kernel.dna}", "", "", '`cargo bench --bench engine -- only="DNA 512x512"`'),
        ("scores of one protein of 512 on 65,536, kernels, one H200", "{kernel.protein}", "**CUDASW4 {length.cudasw4.512}**, without ends ¹", "",
         '`cargo bench --bench engine -- only="protein 1 of"`'),
        ("one alignment of 100,000 x 100,000, one H200", "{path.long}", "", "", '`cargo bench --bench engine -- only="align one"`'),
        ("20 proteins on 400,000, one H200", "{proteins}", "**CUDASW4 {proteins.cudasw4}**, scans only ¹", "",
         "`swalign --device gpu q.fa db.fa`"),
        ("800 reads on 20,000 copies of a gene, 29 Mb, two cores", "{genes.two}", "", "{genes.two.mem}", "`swalign -t 2 --device cpu reads.fq genes.fa`"),
        ("1,000,000 amplicon reads, 90 % duplicates, on 20 genes, two cores", "{amplicons.two}", "", "",
         "`swalign -t 2 --device cpu reads.fq data/16s_20.fa`"),
        ("their distinct sequences, one core; two", "{dedup}", "vsearch {dedup.vsearch}", "", "`swalign dedup reads.fq`"),
        ("20,000 reads of 5 kb, 2 % errors, on E. coli W, one H200; 16 threads", "{ont2.gpu}; {ont2.cpu}", "minimap2 {ont2.minimap2}, 16 threads", "",
         "`swalign --preset long reads.fq ecoli.fa`"),
        ("the same, 5 % errors", "{ont5.gpu}; {ont5.cpu}", "**minimap2 {ont5.minimap2}**, 16 threads", "", "as above"),
        ("2,000 reads of 15 kb, 0.3 % errors, on E. coli W, one H200; 16 threads", "{hifi.gpu}; {hifi.cpu}", "**minimap2 {hifi.minimap2}**, 16 threads", "", "as above"),
        ("a contig of 1.5 Mb on E. coli W, one H100; 16 threads", "{contig.gpu}; {contig.cpu}", "", "", "as above"),
        ("an assembly of 4.9 Mb, 0.2 % errors, on E. coli W, two cores", "{assembly.cpu}", "**minimap2 {assembly.minimap2}**", "", "as above"),
        ("312 guides with NGG and 3 edits, both strands of 3.1 Gbp, one H100; 16 threads", "{guides.gpu}; {guides.cpu}", "", "",
         "`swalign search --pam NGG -k 3 -f guides.fa genome.swdb`"),
        ("200 PacBio reads on E. coli W, one H200; 16 threads", "{pacbio}; {pacbio.cpu}", "**minimap2 {pacbio.minimap2}**, 16 threads", "",
         "`swalign --preset long reads.fq ecoli.fa`"),
    ]),
    "filter": (("input", "`--filter none`", "`auto`", "ratio"), [
        ("reads that consist of N", "{filter.n.none}", "{filter.n.auto}", "{filter.n}"),
        ("400 foreign reads on 200 Mb, one H100", "{filter.foreign}", "{filter.foreign.auto}", ""),
        ("a repeat of 120 bases, 8 % changed", "{filter.r120.none}", "{filter.r120.auto}", "{filter.r120}"),
        ("4 foreign reads on 50 Mb", "{filter.few.none}", "{filter.few.auto}", "{filter.few}"),
        ("1,000 reads on 50 Mb", "{filter.best.none}", "{filter.best.auto}", "{filter.best}"),
    ]),
    "memory": (("command", "time", "peak"), [
        ("`swalign pairs --preset long --device cpu -t 15`: 3 Mb with 3 Mb, score and path", "{memory.pair.s}", "{memory.pair}"),
        ("`swalign pairs --device gpu`: 6 pairs of 200,000", "{memory.six.s}", "{memory.six}"),
        ("`swalign --device gpu`: 4,000 foreign reads on 200 Mb, each searched in full", "{memory.foreign.s}", "{memory.foreign}"),
        ("`swalign --device cpu`: 200,000 reads on 50 Mb, with an index", "", "{memory.index}"),
        ("`swalign --device cpu`: 1,000,000 references of 100", "{memory.short.s}", "{memory.short}"),
    ]),
}

# Colors that are legible on white and on black.
BLUE, ORANGE, GREY, GREEN = "#2f81d8", "#d2691e", "#888", "#2e9e5b"
STYLE = """<style>
  text { font: 13px sans-serif; fill: #777 } .title { font-size: 15px }
  .axis { stroke: #777; fill: none } .grid { stroke: #888; stroke-opacity: 0.3 } .line { stroke-width: 2; fill: none }
  @media (prefers-color-scheme: light) { text { fill: #333 } }
  @media (prefers-color-scheme: dark) { text { fill: #ddd } }
</style>"""
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 760, 80, 30, 50, 60


def rows_of(path):
    """The rows of a table without its comments, by the names of its header."""
    with open(path, newline="") as lines:
        return list(csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t", quoting=csv.QUOTE_NONE))


class Figures:
    """The lines of the table that have a key."""

    def __init__(self, path):
        self.rows = {}
        for row in rows_of(path):
            if row["key"] in self.rows:
                sys.exit(f"{path}: two lines have the key {row['key']}")
            if row["key"] != "-":
                self.rows[row["key"]] = row
        self.used = set()

    def row(self, key):
        self.used.add(key)
        if key not in self.rows:
            sys.exit(f"{SOURCE}: no line has the key {key}")
        return self.rows[key]

    def text(self, key):
        row = self.row(key)
        return f"{row['value']} {row['unit']}"

    def filled(self, cell):
        return re.sub(r"\{([^}]*)\}", lambda found: self.text(found[1]), cell)

    def runs(self, key, unit):
        """The numbers of a line whose kernels were compiled already; its unit has to be the one asked for."""
        row = self.row(key)
        if row["unit"] != unit:
            sys.exit(f"{SOURCE}: {key} is in {row['unit']}, not in {unit}")
        value = re.sub(r"\([^)]*\)", "", re.sub(r"[^,]*\(first\)[^,]*", "", row["value"]))
        return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", value)]

    def series(self, name, unit):
        """x and y of the lines `name.x`."""
        places = [int(key[len(name) + 1 :]) for key in self.rows if re.fullmatch(re.escape(name) + r"\.\d+", key)]
        return [(x, self.runs(f"{name}.{x}", unit)) for x in sorted(places)]


def table(figures, name):
    header, rows = TABLES[name]
    lines = [header, ["---"] * len(header), *([figures.filled(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def page(figures, text):
    """The page with its tables made anew."""
    for name in TABLES:
        mark = re.compile(rf"(<!-- table {name} [^\n]*-->\n).*?(<!-- end -->)", re.S)
        if not mark.search(text):
            sys.exit(f"{PAGE}: no table {name}")
        text = mark.sub(lambda found: found[1] + table(figures, name) + "\n" + found[2], text)
    return text


def ticks(low, high):
    """1, 2 and 5 times powers of ten in low..high; powers alone if there are many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = [step * 10.0**power for power in powers for step in (1, 2, 5) if low <= step * 10.0**power <= high]
    return steps if len(steps) <= 9 else [x for x in steps if f"{x:e}".startswith("1.0")]


def label(x):
    """0.05, 1,000, 50k, 1M."""
    for unit, name in ((1e6, "M"), (1e4, "k")):
        if x >= unit:
            return f"{x / (1e6 if name == 'M' else 1e3):g}{name}"
    return f"{x:,.0f}" if x >= 1 else f"{x:g}"


def scale(values, start, end):
    """The ends of a logarithmic axis around `values`, and the place of a value between start and end."""
    low, high = min(values) / 1.4, max(values) * 1.4
    return low, high, lambda x: start + (end - start) * math.log(x / low) / math.log(high / low)


def frame(title, height):
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">',
        STYLE,
        f'<text class="title" x="{LEFT}" y="{TOP - 22}">{escape(title)}</text>',
    ]


def ended(parts, x, height, x_label):
    """The text of a plot, with the label of its x axis."""
    label = f'<text x="{x}" y="{height - 14}" text-anchor="middle">{escape(x_label)}</text>'
    return "\n".join([*parts, label, "</svg>", ""])


def curves(title, x_label, y_label, data):
    """Lines and dots over two logarithmic axes; `data` has (name, colour, [(x, [y, ...])], (point, anchor, dx, dy) of its name)."""
    height = 420
    right, bottom = WIDTH - RIGHT, height - BOTTOM
    low_x, high_x, x_of = scale([x for _, _, points, _ in data for x, _ in points], LEFT, right)
    low_y, high_y, y_of = scale([y for _, _, points, _ in data for _, ys in points for y in ys], bottom, TOP)
    parts = frame(title, height)
    for x in ticks(low_x, high_x):
        parts.append(f'<path class="grid" d="M{x_of(x):.1f} {TOP}V{bottom}"/>')
        parts.append(f'<text x="{x_of(x):.1f}" y="{bottom + 20}" text-anchor="middle">{label(x)}</text>')
    for y in ticks(low_y, high_y):
        parts.append(f'<path class="grid" d="M{LEFT} {y_of(y):.1f}H{right}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y_of(y) + 4:.1f}" text-anchor="end">{label(y)}</text>')
    parts.append(f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{right}"/>')
    parts.append(f'<text x="{(LEFT + right) / 2}" y="{height - 14}" text-anchor="middle">{escape(x_label)}</text>')
    middle = (TOP + bottom) / 2
    parts.append(f'<text transform="translate(20 {middle}) rotate(-90)" text-anchor="middle">{escape(y_label)}</text>')
    for name, colour, points, (place, anchor, dx, dy) in data:
        if all(len(ys) == 1 for _, ys in points) and len(points) > 1:
            places = "L".join(f"{x_of(x):.1f} {y_of(ys[0]):.1f}" for x, ys in points)
            parts.append(f'<path class="line" stroke="{colour}" d="M{places}"/>')
        for x, ys in points:
            at = f"{x_of(x):.1f}"
            if len(ys) > 1:
                parts.append(f'<path class="line" stroke="{colour}" d="M{at} {y_of(min(ys)):.1f}V{y_of(max(ys)):.1f}"/>')
            parts += [f'<circle fill="{colour}" cx="{at}" cy="{y_of(y):.1f}" r="4"><title>{escape(name)}, {x:,}: {y:g}</title></circle>' for y in ys]
        x, ys = points[place]
        parts.append(f'<text x="{x_of(x) + dx:.1f}" y="{y_of(ys[-1]) + dy:.1f}" text-anchor="{anchor}" style="fill:{colour}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def bars(title, x_label, groups):
    """A bar to the slowest run, and the runs as they were measured; `groups` has (name, [(bar, colour, text, runs)])."""
    height = TOP + BOTTOM + sum(26 + 24 * len(rows) for _, rows in groups)
    left, bottom = 200, height - BOTTOM
    most = max(run for _, rows in groups for *_, runs in rows for run in runs)
    x_of = lambda x: left + (WIDTH - RIGHT - 170 - left) * x / most
    parts = frame(title, height)
    for x in range(0, int(most) + 1, 5):
        parts.append(f'<path class="grid" d="M{x_of(x):.1f} {TOP}V{bottom}"/>')
        parts.append(f'<text x="{x_of(x):.1f}" y="{bottom + 20}" text-anchor="middle">{x}</text>')
    y = TOP
    for name, rows in groups:
        y += 22
        parts.append(f'<text x="{left - 8}" y="{y - 6}" text-anchor="end" font-weight="bold">{escape(name)}</text>')
        for bar, colour, text, runs in rows:
            parts.append(f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{escape(bar)}</text>')
            parts.append(f'<rect x="{left}" y="{y + 2}" width="{x_of(max(runs)) - left:.1f}" height="16" fill="{colour}"/>')
            parts.append(f'<text x="{x_of(max(runs)) + 6:.1f}" y="{y + 15}">{escape(text)}</text>')
            y += 24
        y += 4
    parts.append(f'<path class="axis" d="M{left} {TOP}V{bottom}H{WIDTH - RIGHT}"/>')
    return ended(parts, (left + WIDTH - RIGHT) / 2, height, x_label)


def of_mates():
    """Wrong reads of simulated pairs, by genome and program: (mapping quality, mapped, wrong), all with at least that quality."""
    found = {}
    for row in rows_of(MATES):
        numbers = tuple(int(row[name]) for name in ("mapq", "mapped", "wrong"))
        found.setdefault(row["genome"], {}).setdefault(row["program"], []).append(numbers)
    return found


def mates(genome, programs):
    """Wrong reads over those that are left out below a mapping quality."""
    colours = {"swalign": BLUE, "bwa mem": GREY, "minimap2": ORANGE}
    reads = max(mapped for rows in programs.values() for _, mapped, _ in rows)
    # A logarithmic axis has no 0, so half a read stands for none.
    points = lambda rows: [(max(reads - mapped, 0.5), [max(wrong, 0.5)]) for quality, mapped, wrong in rows if quality > 0]
    places = {"swalign": (0, "end", -60, -38), "bwa mem": (0, "end", -60, -22), "minimap2": (0, "end", -60, -6)}
    data = [(name, colours[name], points(rows), places[name]) for name, rows in programs.items()]
    title = f"{genome}: {reads:,} simulated reads in pairs, by mapping quality"
    return curves(title, "reads below a mapping quality (0.5: none)", "wrong ones among the others (0.5: none)", data)


def evalues():
    """E-values over those of blastp, pair by pair."""
    rows = [{name: float(value) for name, value in row.items()} for row in rows_of(EVALUES)]
    height, right = 420, WIDTH - RIGHT
    bottom = height - BOTTOM
    powers = range(-80, 10, 20)
    place = lambda start, end: lambda x: start + (end - start) * (math.log10(max(x, 1e-80)) + 80) / 82
    x_of, y_of = place(LEFT, right), place(bottom, TOP)
    parts = frame("E-values of 160 pairs of proteins", height)
    for power in powers:
        parts.append(f'<path class="grid" d="M{x_of(10.0**power):.1f} {TOP}V{bottom}M{LEFT} {y_of(10.0**power):.1f}H{right}"/>')
        parts.append(f'<text x="{x_of(10.0**power):.1f}" y="{bottom + 20}" text-anchor="middle">1e{power}</text>')
        parts.append(f'<text x="{LEFT - 8}" y="{y_of(10.0**power) + 4:.1f}" text-anchor="end">1e{power}</text>')
    parts.append(f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{right}"/>')
    for name, colour, radius in (("ssearch36", ORANGE, 2), ("swalign", BLUE, 2)):
        parts += [f'<circle fill="{colour}" cx="{x_of(row["blastp"]):.1f}" cy="{y_of(row[name]):.1f}" r="{radius}"/>'
                  for row in rows if min(row["blastp"], row[name]) >= 1e-80]
    for name, colour, y in (("swalign", BLUE, TOP + 20), ("ssearch36", ORANGE, TOP + 38)):
        parts.append(f'<text x="{LEFT + 14}" y="{y}" style="fill:{colour}">{name}</text>')
    return ended(parts, (LEFT + right) / 2, height, "blastp")


def plots(figures):
    tera = lambda points: [(x, [y / 1000 for y in ys]) for x, ys in points]
    one = lambda x, key, unit: [(x, figures.runs(key, unit))]
    row = lambda name, colour, key: (name, colour, figures.row(key)["value"], figures.runs(key, "s"))
    job = lambda of: [row("swalign, one H200", BLUE, f"{of}.gpu"), row("swalign, 16 cores", BLUE, f"{of}.sixteen"),
                      row("swalign, two cores", BLUE, f"{of}.two"), row("minimap2, two cores", ORANGE, f"{of}.minimap2"),
                      row("bwa mem, two cores", GREY, f"{of}.bwa")]
    milliseconds = lambda x, key: [(x, [y / 1000 for y in figures.runs(key, "ms")])]
    return {"mates-" + re.sub(r"[^a-z]+", "-", genome.lower()).strip("-") + ".svg": mates(genome, programs) for genome, programs in of_mates().items()} | {
        "evalues.svg": evalues(),
        "reads.svg": bars("A million reads of 150, FASTQ to SAM", "seconds from start to end, all runs of a line",
                          [("E. coli W, 4.9 Mb", job("ecoli")), ("SARS-CoV-2, 30 kb", job("sars2"))]),
        "length.svg": curves(
            "Scores, one H200", "residues of a sequence; of peers, of the query (DNA) or of the target (proteins)",
            "TCUPS", [
                ("swalign, DNA with ends, wall", BLUE, tera(figures.series("length", "GCUPS")), (8, "end", 10, 24)),
                ("swalign, DNA with ends, kernels", GREEN, tera(figures.series("length.kernel", "GCUPS")), (6, "start", 10, -8)),
                ("CUDASW4, proteins without ends", ORANGE,
                 [(x, figures.runs(f"length.cudasw4.{x}", "TCUPS")) for x in (256, 512, 1024)], (2, "start", 10, 4)),
                ("libmarv, proteins with ends", ORANGE, one(512, "length.libmarv", "TCUPS"), (0, "start", 12, 26)),
                ("GASAL2, DNA with ends", ORANGE, tera(one(150, "length.gasal2", "GCUPS")), (0, "start", -62, -12)),
                ("GPU-BSW", ORANGE, tera(one(150, "length.bsw", "GCUPS")), (0, "start", 10, 4)),
            ]),
        "pairs.svg": curves(
            "Alignments with CIGAR, 150 x 241, from buffers, one H200", "pairs of a call", "seconds of the call", [
                ("swalign, slow processors", BLUE, figures.series("pairs", "s"), (0, "start", 0, -12)),
                ("swalign, in GASAL2's run", GREEN, milliseconds(1_000_000, "million"), (0, "end", -10, 100)),
                ("GASAL2 -t", ORANGE, milliseconds(1_000_000, "million.gasal2"), (0, "end", -10, 0)),
                ("WFA-GPU, global", ORANGE, milliseconds(1_000_000, "million.wfa"), (0, "end", -10, 0)),
            ]),
    }


def run(*, check: bool = False):
    """Makes the tables and plots of docs/benchmarks.md from docs/benchmarks.tsv, docs/mates.tsv and docs/evalues.tsv.

    A key names each line of the table. `{key}` in a cell of plots.py stands for the value and unit of that line. With
    --check, writes nothing; exit code 1 if the page or a plot is not up to date.
    """
    figures = Figures(SOURCE)
    made = {PAGE: page(figures, PAGE.read_text())} | {PLOTS / name: text for name, text in plots(figures).items()}
    unused = sorted(figures.rows.keys() - figures.used)
    if unused:
        sys.exit(f"{SOURCE}: nothing shows {', '.join(unused)}")
    differs = [path for path, text in made.items() if not path.exists() or path.read_text() != text]
    if check and differs:
        sys.exit("".join(f"{path} is not what {SOURCE} gives: run scripts/benchmarks/run plots\n" for path in differs))
    for path in [] if check else differs:
        path.write_text(made[path])

