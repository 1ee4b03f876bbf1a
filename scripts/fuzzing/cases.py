"""Makes the fuzzer's cases: small inputs, options, and what the reference needs to know of them."""

import gzip
import random
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from . import limits
from .alphabets import leave_out
from .reference import Scoring, reverse_complement

ROOT = Path(__file__).resolve().parents[2]
# Lengths at the boundary sizes of tiles, vectors and words.
SEAMS = [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257]
PRESETS = {"short": (1, 4, 6, 1), "long": (2, 4, 4, 2), "blastn": (2, 3, 5, 2), "linear": (1, 1, 0, 2)}
# The built-in matrices, with their default gap costs.
MATRICES = {
    "BLOSUM45": (14, 2), "BLOSUM50": (13, 2), "BLOSUM62": (11, 1), "BLOSUM80": (10, 1), "BLOSUM80_3": (15, 2),
    "BLOSUM90": (10, 1), "PAM30": (9, 1), "PAM70": (10, 1), "PAM250": (14, 2),
}
DNA_MATRICES = ["NUC.4.4", "m2x4_zero", "m2x4_minus1"]
AMINO = "ARNDCQEGHILKMFPSTWYV"
MOST_QUERIES = 40


@dataclass
class Case:
    """One command with its inputs, `files` by name, and the records in them."""

    words: list
    queries: list
    targets: list
    files: dict
    reference: dict = field(default_factory=dict)


def length(rng, most=257):
    """A length at a seam, or any."""
    return min(most, rng.choice(SEAMS) if rng.random() < 0.6 else rng.randint(1, most))


def letters(rng, alphabet, len):
    """Random letters, one letter, two letters, or a repeated unit with few faults."""
    kind = rng.random()
    if kind < 0.5:
        return "".join(rng.choices(alphabet, k=len))
    if kind < 0.6:
        return rng.choice(alphabet) * len
    if kind < 0.7:
        return "".join(rng.choices(rng.sample(alphabet, 2), k=len))
    unit = "".join(rng.choices(alphabet, k=rng.choice([1, 2, 3, 4, 5, 7, 16, 33, 100, rng.randint(1, 200)])))
    return mutated(rng, alphabet, (unit * (len + 1))[:len], rng.choice([0, 0, 0.02]))[:len] or unit[0]


def mutated(rng, alphabet, text, rate):
    """A copy with letters replaced, inserted and deleted at this rate; some gaps are long."""
    copy, skip = [], 0
    for letter in text:
        if skip > 0:
            skip -= 1
            continue
        if rng.random() >= rate:
            copy.append(letter)
            continue
        change, run = rng.random(), 1 if rng.random() < 0.8 else rng.randint(1, 12)
        if change < 0.4:
            copy.append(rng.choice(alphabet))
        elif change < 0.7:
            copy.extend([letter, *rng.choices(alphabet, k=run)])
        else:
            skip = run - 1
    return "".join(copy)


def piece(rng, texts, len):
    text = rng.choice(texts)
    start = rng.randint(0, max(0, len_of(text) - len))
    return text[start : start + len]


len_of = len


def decorated(rng, text, protein):
    """Lower case, ambiguous letters and U here and there; the text itself most of the time."""
    kind = rng.random()
    if kind < 0.6 or not text:
        return text
    if kind < 0.7:
        return text.lower()
    if kind < 0.75:
        return text if protein else text.replace("T", "U")
    odd = "BZXUOJ*" if protein else "N" if kind < 0.85 else "NRYSWKMBDHVU"
    rate = rng.choice([0.01, 0.05, 0.3])
    return "".join(rng.choice(odd) if rng.random() < rate else x.lower() if rng.random() < 0.1 else x for x in text)


def make_targets(rng, alphabet, protein, most):
    """Targets of `most` letters or a few less: random ones, copies of earlier ones, equal ones."""
    targets, total = [], 0
    many = rng.random() < 0.3
    while total < most and len(targets) < (40 if many else rng.randint(1, 8)):
        room = most - total
        kind = rng.random()
        if targets and kind < 0.25:
            text = rng.choice(targets)
        elif targets and kind < 0.5:
            text = mutated(rng, alphabet, rng.choice(targets), rng.choice([0.01, 0.05, 0.2]))
        elif targets and not protein and kind < 0.6:
            text = reverse_complement(rng.choice(targets))
        else:
            size = length(rng, room) if many else room if rng.random() < 0.5 else rng.randint(1, room)
            text = letters(rng, alphabet, size)
        text = text[:room] or rng.choice(alphabet)
        targets.append(text)
        total += len(text)
    return [decorated(rng, text, protein) for text in targets]


def make_repeats(rng, alphabet, protein, most):
    """Targets of which most letters stand elsewhere as well: few texts, whole or in part, again and again."""
    size = min(most, rng.choice([40, 100, 200, 400]))
    texts = [letters(rng, alphabet, size) for _ in range(rng.choice([1, 1, 2, 3]))]
    targets, total = [], 0
    while total < most and len(targets) < 60:
        text = rng.choice(texts)
        kind = rng.random()
        if kind < 0.3:
            text = piece(rng, texts, rng.randint(1, size))
        elif kind < 0.6:
            text = mutated(rng, alphabet, text, rng.choice([0.002, 0.01, 0.03]))
        elif kind < 0.7:
            text = text + rng.choice(texts)
        elif kind < 0.75 and not protein:
            text = reverse_complement(text)
        text = text[: most - total] or rng.choice(alphabet)
        targets.append(text)
        total += len(text)
    return targets


def again(rng, queries, targets=None):
    """Queries of which some come several times, written alike or not; of pairs each with its target."""
    order = list(range(len(queries))) + rng.choices(range(len(queries)), k=rng.randint(1, 12))
    order = order if targets is None else rng.choices(range(len(queries)), k=len(queries))
    rng.shuffle(order)
    other = lambda text: text.lower() if rng.random() < 0.2 else text.upper() if rng.random() < 0.2 else text
    return [other(queries[at]) for at in order], targets and [targets[at] for at in order]


def make_query(rng, alphabet, protein, targets, most):
    """A query of about `most` letters at most: a changed piece of a target, two pieces, or letters of its own."""
    kind, len = rng.random(), length(rng, min(most, 257))
    if kind < 0.03:
        return ""
    if kind < 0.2:
        text = letters(rng, alphabet, len)
    else:
        rate = rng.choice([0, 0.02, 0.05, 0.05, 0.1, 0.25])
        text = mutated(rng, alphabet, piece(rng, targets, len), rate)
        if 0.5 < kind < 0.8:
            # A gap in the query or in the target.
            middle, gap = rng.randint(0, len), rng.choice([1, 1, 2, 3, rng.randint(1, 40)])
            rest = text[middle + gap :] if kind < 0.65 else letters(rng, alphabet, gap) + text[middle:]
            text = text[:middle] + rest
        elif kind > 0.8:
            text += letters(rng, alphabet, length(rng, 20)) * rng.randint(0, 1) + piece(rng, targets, len)
    if not protein and rng.random() < 0.4:
        text = reverse_complement(text)
    return decorated(rng, text, protein)


def rearranged(rng, alphabet, protein, targets, most):
    """A read of two pieces or more, over inversions, insertions, deletions and replaced stretches."""
    text, end = piece(rng, targets, most), 0
    copy = ""
    while end < len(text):
        start, gap = end + rng.randint(15, 80), rng.choice([rng.randint(1, 12), rng.randint(5, 40)])
        copy, end = copy + text[end:start], start + gap
        middle, kind = text[start:end], rng.random()
        if kind < 0.35:
            copy += reverse_complement(middle)
        elif kind < 0.5:
            copy += piece(rng, targets, gap)
        elif kind < 0.75:
            copy += "".join(rng.choices(alphabet, k=gap))
        elif kind < 0.9:
            copy += "".join(rng.choices(alphabet, k=gap)) + middle
    copy = mutated(rng, alphabet, copy, rng.choice([0, 0, 0.01, 0.05])) or copy
    return decorated(rng, reverse_complement(copy) if rng.random() < 0.5 else copy, protein)


def numbers(rng):
    """Match, mismatch, gap open and gap extend, and the words for them."""
    kind = rng.random()
    if kind < 0.25:
        return PRESETS["short"], []
    name = rng.choice(sorted(PRESETS))
    values, words = list(PRESETS[name]), ["--preset", name]
    if name == "short":
        words += ["--end-bonus", "0"]
    if kind < 0.5:
        return values, words
    any_number = lambda least: rng.choice([least, 1, 2, 3, 5, 7, 10, rng.randint(1, 60)])
    extreme = lambda least: rng.choice([least, 1, 126, 127, 128, 254, 255, 256, 32767, 65535, 65536, 1 << 20])
    chosen = rng.sample(range(4), rng.randint(1, 4))
    for at in chosen:
        least = (1, 0, 0, 1)[at]
        values[at] = max(least, extreme(least) if kind > 0.85 else any_number(least))
        words += [("--match", "--mismatch", "--gap-open", "--gap-extend")[at], str(values[at])]
    return values, words


def with_second_gap(rng, scoring, words):
    """Adds a second piece to the gap costs of a scoring, and returns the words for both."""
    gap_open, gap_extend = scoring.pieces[0]
    second = gap_open + rng.choice([1, 2, 5, 20, 20, 60]), rng.randint(1, gap_extend - 1)
    scoring.with_second_gap(*second)
    for name in {"--gap-open", "--gap-extend"} & set(words):
        at = words.index(name)
        words = words[:at] + words[at + 2 :]
    return [*words, "--gap-open", f"{gap_open},{second[0]}", "--gap-extend", f"{gap_extend},{second[1]}"]


def default_ambiguous(words, mismatch):
    """The penalty of ambiguous codes without --ambiguous."""
    name = words[words.index("--preset") + 1] if "--preset" in words else None
    return min(1, mismatch) if name in ("short", "long") else mismatch


def make_scoring(rng, protein, iupac=False):
    """The reference's scoring, the words for it, and matrix files that the command needs. `iupac` allows --iupac."""
    if not protein and rng.random() < 0.85:
        (match, mismatch, gap_open, gap_extend), words = numbers(rng)
        ambiguous, kind = default_ambiguous(words, mismatch), rng.random()
        if kind < 0.2:
            ambiguous = rng.choice([0, 1, 2, mismatch, mismatch + 3])
            words = [*words, "--ambiguous", str(ambiguous)]
        iupac = iupac and kind > 0.9 and max(match, mismatch) <= 127
        words = [*words, "--iupac"] if iupac else words
        return Scoring(False, gap_open, gap_extend, match, mismatch, None, ambiguous, iupac), words, {}
    gap_open, gap_extend = rng.choice([(11, 1), (11, 1), (0, 1), (0, 8), (12, 2), (3, 3), (40, 1), (1 << 20, 1 << 20)])
    words = ["--gap-open", str(gap_open), "--gap-extend", str(gap_extend)]
    if protein:
        name = rng.choice(list(MATRICES))
        text = (ROOT / "data/matrices" / name).read_text()
        if rng.random() < 0.2:
            words, (gap_open, gap_extend) = [], MATRICES[name]
        return Scoring(True, gap_open, gap_extend, matrix=text), ["--matrix", name, *words], {}
    if rng.random() < 0.5:
        name = rng.choice(DNA_MATRICES)
        text = (ROOT / "tests/golden" / name).read_text()
    else:
        # An asymmetric matrix of a few bases, so that swapped rows and columns are noticed. A base and its complement
        # score differently, half of the time very differently, so that bounds for one strand do not hold for the other.
        name, letters = "made.matrix", rng.choice(["ACGT", "TGCA", "ACGTN", "NRACGTY"])
        own = (lambda x: rng.randint(1, 9)) if rng.random() < 0.5 else dict(zip(letters, rng.sample([1, 2, 3, 9, 12, 20, 30], len(letters)))).get
        rows = [[row] + [own(row) if row == x else rng.randint(-9, 2) for x in letters] for row in letters]
        text = "# made\n" + "\n".join(" ".join(map(str, row)) for row in [letters, *rows]) + "\n"
    return Scoring(False, gap_open, gap_extend, matrix=text), ["--matrix", name, *words], {name: text.encode()}


def packed(rng, data):
    """The bytes plain, as gzip in one member or some, or as bgzf; some with other line ends, or empty lines around them."""
    data, kind = dressed(rng, data), rng.random()
    if kind < 0.7:
        return data, ""
    cuts = sorted(rng.randint(0, len(data)) for _ in range(rng.randint(0, 3)))
    members = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)])]
    if kind < 0.85:
        return b"".join(gzip.compress(member, 1, mtime=0) for member in members), ".gz"
    return b"".join(map(bgzf_block, [*filter(None, members), b""])), ".gz"


def dressed(rng, data):
    """The text of records as it may be written as well."""
    if rng.random() < 0.8:
        return data
    if rng.random() < 0.3 and b"\r" not in data:
        data = data.replace(b"\n", b"\r")
    end = b"\r" if b"\r" in data and b"\n" not in data else b"\n"
    before, after = (b"".join(rng.choice([end, b" " + end]) for _ in range(rng.choice([0, 1, 5]))) for _ in range(2))
    return before + data + (after if data.endswith(end) else b"")


def bgzf_block(data):
    deflate = zlib.compressobj(1, zlib.DEFLATED, -15)
    body = deflate.compress(data) + deflate.flush()
    head = struct.pack("<4BI2BH2BHH", 31, 139, 8, 4, 0, 0, 255, 6, 66, 67, 2, len(body) + 25)
    return head + body + struct.pack("<II", zlib.crc32(data), len(data))


def fasta(rng, records):
    """Records as FASTA, in lines of some width."""
    width, end = rng.choice([1000000, 60, 7]), rng.choice(["\n", "\n", "\n", " \n", "\r\n"])
    text = ""
    for name, letters, *_ in records:
        comment = rng.choice(["", "", " a comment", "\tof two words"])
        parts = [letters[at : at + width] for at in range(0, len(letters), width)]
        text += end.join([f">{name}{comment}", *parts, ""])
    return (text if rng.random() < 0.8 else text.rstrip("\r\n") + end * (not records[-1][1])).encode()


def fastq(records):
    return "".join(f"@{name}\n{letters}\n+\n{values}\n" for name, letters, values in records).encode()


def query_names(rng, count):
    """Names that differ, or those of mates, or some of them equal."""
    kind = rng.random()
    if kind < 0.6:
        return [f"q{at}" for at in range(count)]
    if kind < 0.8:
        return [f"r{at // 2}{('/1', '/2')[at % 2] if kind < 0.7 else ''}" for at in range(count)]
    return [rng.choice(["x", "!?~", "a:b|c", "n" * 254, f"q{at}"]) for at in range(count)]


def make_records(rng, names, letters):
    """Records with qualities or without, and their file: its ending and its bytes."""
    values = ["".join(chr(rng.randint(33, 126)) for _ in text) for text in letters]
    if rng.random() < 0.5 and all(letters):
        records = list(zip(names, letters, values))
        return records, "fq", fastq(records)
    records = [(name, text, None) for name, text in zip(names, letters)]
    return records, "fa", fasta(rng, records)


def make_cs(rng):
    """The form of the tag cs, None for none, and its words."""
    return rng.choice([(None, []), (None, []), ("short", ["--cs"]), ("short", ["--cs=short"]), ("long", ["--cs=long"])])


def make_rules(rng, scoring, has_matrix, queries):
    """Options that decide which hits there are and how they are written: for the reference, and as words."""
    top = int(scoring.match * len(rng.choice(queries)) * rng.random())
    min_score = rng.choice([None, 1, max(1, top), max(1, top)])
    shares = ["0", "0.1", "0.25", "0.5", "0.9", "1", f"{rng.random():.6f}", f"{rng.random():.4f}9"]
    ratio = rng.choice([None, None, None, *shares])
    group = "@RG\tID:run1\tSM:a sample" if rng.random() < 0.1 else None
    eqx = rng.random() < 0.3
    cs, cs_words = make_cs(rng)
    words = [] if min_score is None else ["--min-score", str(min_score)]
    words += ["--secondary-ratio", ratio] if ratio else []
    words += cs_words + ["--eqx"] * eqx + (["-R", group] if group else [])
    default = 60 if has_matrix else 20 * scoring.match
    rules = {"min_score": min_score or default, "ppm": round(float(ratio or "0.8") * 1_000_000)}
    return {**rules, "eqx": eqx, "cs": cs, "group": group}, words


def make_split(rng, words, has_matrix, scoring, min_score, has_cuts=False):
    """Appends words that say how reads are split, and gives the rules for the reference: the least score, whether the search
    is bounded, and the fall of the running score that cuts a path, 0 for none. `has_cuts` says that reads are rearranged."""
    is_default, kind = bool({"short", "long"} & set(words)), rng.random()
    if kind < (0.5 if is_default else 0.7) and not has_cuts:
        words += ["--no-split"] * is_default
        return {}
    score = rng.choice([None, 1, rng.randint(1, 40) * scoring.match] if not has_cuts else [1, rng.randint(1, 25) * scoring.match])
    asked = rng.random() < 0.5
    words += ["--split"] * asked + (["--split-score", str(score)] if score else [])
    if not (is_default or asked or score):
        return {}
    clip = rng.choice(["soft", "soft", "hard"])
    words += ["--clip", clip] if clip == "hard" else []
    default = max(min_score, 120 if has_matrix else 40 * scoring.match)
    drop = 0 if has_matrix else scoring.match * (200 if "long" in words else 100)
    if has_cuts or rng.random() < 0.3:
        drop = min(1_000_000, rng.choice([0, 1, rng.randint(1, 12), *[rng.randint(1, 60) * scoring.match] * 5]))
        words += ["--z-drop", str(drop)]
    return {"split": (score or default, not asked, drop), "clip": clip}


def make_library(rng):
    """Orientation, mean and deviation of the inserts of mates."""
    return rng.choice(["fr", "fr", "fr", "rf", "ff"]), rng.randint(10, 200), rng.randint(1, 30)


def make_pairs(rng, library, pool, row, cells):
    """Mates one after the other, of fragments of the texts in `pool`; some do not belong together. A base takes `row` cells."""
    (orientation, mean, deviation), letters = library, []
    while len(letters) < 30 and sum(map(len, letters)) * row < cells:
        fragment = piece(rng, pool, max(2, round(rng.gauss(mean, deviation))))
        size = rng.choice([20, 40, 70, length(rng, 100)])
        first, second = fragment[:size], reverse_complement(fragment[-size:])
        if orientation == "rf":
            first, second = reverse_complement(first), reverse_complement(second)
        if orientation == "ff":
            second = reverse_complement(second)
        pair = [first, second] if rng.random() < 0.5 or orientation == "ff" else [second, first]
        rate = rng.choice([0, 0.02, 0.05, 0.15])
        pair = [mutated(rng, "ACGT", text, rate) for text in pair]
        if rng.random() < 0.2:
            pair[rng.randint(0, 1)] = make_query(rng, list("ACGT"), False, pool, 60)
        letters += [decorated(rng, text, False) for text in pair]
    return letters


def make_mates(seed, small=False):
    """The case of a seed: mates in two files, or interleaved in one."""
    rng = random.Random(seed)
    scoring, words, files = make_scoring(rng, False, True)
    most = rng.choice([60, 150, 300, 500, 800, 800] + [1500, 2500] * (not small))
    make_texts = make_repeats if rng.random() < 0.2 else make_targets
    targets = make_texts(rng, list("ACGT"), False, most)
    pool, row = [text.upper() for text in targets], 2 * sum(map(len, targets))
    library = make_library(rng)
    orientation, mean, deviation = library
    letters = make_pairs(rng, library, pool, row, 120_000)
    if rng.random() < 0.3:
        pairs = rng.choices(range(len(letters) // 2), k=rng.randint(1, 8))
        letters += [letters[2 * at + mate] for at in pairs for mate in (0, 1)]
    rules, further = make_rules(rng, scoring, "--matrix" in words, letters)
    max_hits = rng.choice([1, 1, 2, 5, 100])
    words = [*words, "--alphabet", "dna", *further, *["--max-hits", str(max_hits)] * (max_hits > 1)]
    rules |= make_split(rng, words, "--matrix" in words, scoring, rules["min_score"])
    insert = None
    if rng.random() < 0.7:
        insert = (mean, deviation, rng.choice([orientation, orientation, "fr"]))
        words += ["--insert", f"{mean},{deviation}" + (f",{insert[2]}" if insert[2] != "fr" or rng.random() < 0.5 else "")]
    suffixes = rng.choice([("", ""), ("/1", "/2"), (".1", ".2"), ("_1", "_2"), (":1", ":2"), ("/1", "/3")])
    names = [f"r{at // 2}{suffixes[at % 2]}" for at in range(len(letters))]
    records, kind, _ = make_records(rng, names, letters)
    data = fastq if kind == "fq" else lambda records: fasta(rng, records)
    if rng.random() < 0.5:
        (query, ending), names = packed(rng, data(records)), ["--interleaved"]
        files[f"q.{kind}{ending}"] = query
        names.append(f"q.{kind}{ending}")
    else:
        (first, ending), (second, other) = (packed(rng, data(records[at::2])) for at in (0, 1))
        names = [f"m1.{kind}{ending}", f"m2.{kind}{other}"]
        files |= dict(zip(names, (first, second)))
    targets = [(f"t{at}", text) for at, text in enumerate(targets)]
    target, target_zip = packed(rng, fasta(rng, targets))
    files[f"t.fa{target_zip}"] = target
    rules |= {"strands": "+-", "max_hits": max_hits, "circles": []}
    if random.Random(f"{seed} tie-break").random() < 0.3:
        rules["hash"] = True
        words += ["--tie-break", "hash"]
    known = {"scoring": scoring, "rules": rules, "paired": False, "insert": insert}
    return Case([*words, *names, f"t.fa{target_zip}"], records, targets, files, known)


def make(seed, small=False, has_cuts=False):
    """The case of a seed: `swalign QUERY REFERENCE` or `swalign pairs`; with `has_cuts` one of rearranged reads."""
    rng = random.Random(seed)
    protein, paired, size = rng.random() < 0.2, rng.random() < 0.15, rng.random() * (0.7 if small else 1)
    if has_cuts:
        protein, paired, size = False, False, 0
    alphabet = list(AMINO if protein else "ACGT")
    scoring, words, files = make_scoring(rng, protein, True)
    strands = "+" if protein or rng.random() < (0.25 if size < 0.7 else 0.5) else "+-"
    strands = "-" if not protein and random.Random(f"{seed} strands").random() < 0.1 else strands
    max_hits = rng.choice([1, 1, 1, 2, 3, 5, 20, 1_000_000])
    # Limits of the cells of all matrices and of the length of a target. Each further hit costs the reference about one
    # more matrix.
    cells, most = 30_000, rng.choice([*SEAMS, *[150, 300, 500] * 5])
    if size >= 0.7:
        cells, most = (1_500_000 if size > 0.97 else 300_000) // min(5, max_hits), rng.randint(2048, 3000)
    if has_cuts:
        cells, most = 250_000, rng.choice([200, 300, 500])
    make_texts, make_read = make_repeats if rng.random() < 0.25 else make_targets, rearranged if has_cuts else make_query
    targets = make_texts(rng, alphabet, protein, most)
    pool, row = [text.upper() for text in targets], sum(map(len, targets)) * len(strands)
    queries = []
    while len(queries) < (len(targets) if paired else MOST_QUERIES):
        queries.append(make_read(rng, alphabet, protein, pool, min(300, max(1, cells // row))))
        if sum(map(len, queries)) * row >= cells and not paired:
            break
    if rng.random() < 0.3:
        queries, targets_again = again(rng, queries, targets if paired else None)
        targets = targets_again or targets
    rules, further = make_rules(rng, scoring, "--matrix" in words, queries)
    words = [*words, "--alphabet", "protein" if protein else "dna", *further]
    words += ["--max-hits", str(max_hits)] * (max_hits > 1)
    words += ["--forward-only"] * (strands == "+" and not paired and not protein)
    words += ["--both-strands"] * (strands == "+-" and paired) + ["--strand", "minus"] * (strands == "-")
    queries, kind, query = make_records(rng, query_names(rng, len(queries)), queries)
    targets = [(f"t{at}", text) for at, text in enumerate(targets)]
    chance = random.Random(f"{seed} circles")
    circles = [name for name, _ in targets if chance.random() < 0.6] if not paired and chance.random() < 0.25 else []
    words += ["--circular", ",".join(circles)] if circles else []
    (query, query_zip), (target, target_zip) = packed(rng, query), packed(rng, fasta(rng, targets))
    files |= {f"q.{kind}{query_zip}": query, f"t.fa{target_zip}": target}
    if not paired:
        rules |= make_split(rng, words, "--matrix" in words, scoring, rules["min_score"], has_cuts)
    rules |= {"strands": strands, "max_hits": max_hits, "circles": circles}
    chance = random.Random(f"{seed} tie-break")
    if not paired and chance.random() < 0.15:
        rules["hash"] = True
        words += ["--tie-break", "hash"]
    chance = random.Random(f"{seed} second gap")
    if not paired and not {"--evalue", "--matrix"} & set(words) and scoring.extend > 1 and chance.random() < 0.25:
        words = with_second_gap(chance, scoring, words)
    chance = random.Random(f"{seed} end bonus")
    if not protein and not circles and not rules.get("split") and chance.random() < 0.3:
        bonus = chance.choice([1, 2, 5, 5, 10, 30, 200, 70_000])
        if {"--matrix", "--iupac"} & set(words):
            bonus = max(0, min(bonus, 127 - max(max(row.values()) for row in scoring.score.values())))
        scoring.with_end_bonus(bonus)
        if "--end-bonus" in words:
            at = words.index("--end-bonus")
            words = words[:at] + words[at + 2 :]
        words += ["--end-bonus", str(bonus)]
    if not circles and not rules.get("split") and not rules.get("hash"):
        limits.of_records(random.Random(f"{seed} limits"), words, rules, paired)
    words = leave_out(seed, words, queries, targets, kind == "fq")
    words = [*["pairs"] * paired, *words, f"q.{kind}{query_zip}", f"t.fa{target_zip}"]
    return Case(words, queries, targets, files, {"scoring": scoring, "rules": rules, "paired": paired})
