"""Cases of `swalign dedup`, and what it must write, from "Distinct sequences" in docs/output.md, with plain dicts."""

import gzip
import random
import re

from .cases import AMINO, Case, decorated, fasta, fastq, length, letters, mutated, packed
from .program import Difference, compare_bytes, compare_lines
from .reference import reverse_complement

TABLE = "#set\trepresentative\tname\tstrand\tsize\tset_size"


def size_of(name):
    """The first field size=N of a name; 1 where it has none."""
    found = next(filter(None, (re.fullmatch(r"size=(\d+)", field) for field in name.split(";"))), None)
    return int(found[1]) if found else 1


def with_size(name, size):
    fields = name.split(";")
    at = next((at for at, field in enumerate(fields) if re.fullmatch(r"size=\d+", field)), None)
    name = ";".join(field for number, field in enumerate(fields) if number != at)
    return f"{name.removesuffix(';')};size={size}"


def by_prefix(records):
    """Sets of records by the longest sequence of each, as the record that stands for it, the first record of that sequence,
    and all records; `records` are (name, text, size)."""
    first, begins = {}, {}
    for at, (name, text, size) in enumerate(records):
        first.setdefault(text, []).append((-size, name.encode(), at))
        begins.setdefault(text, at)
    first = {text: min(of) for text, of in first.items()}

    def joined(text):
        longer = [other for other in first if other != text and other.startswith(text)]
        order = lambda other: (len(other), *first[other][:2], begins[other])
        return joined(min(longer, key=order)) if longer else text

    sets = {}
    for at, (_, text, _) in enumerate(records):
        sets.setdefault(joined(text), []).append(at)
    return [(first[text][2], begins[text], of) for text, of in sets.items()]


def expected(case):
    """The output, the lines of the table."""
    rules = case.reference
    records = []
    for name, text, values in case.queries:
        text = text.upper() if rules["protein"] else text.upper().replace("U", "T")
        records.append((name, text, size_of(name) if rules["size_in"] else 1, values))
    if rules["prefix"]:
        sets = by_prefix([record[:3] for record in records])
    else:
        of = {}
        for at, (_, text, _, _) in enumerate(records):
            key = min(text, reverse_complement(text)) if rules["both"] else text
            of.setdefault(key, []).append(at)
        sets = [(members[0], members[0], members) for members in of.values()]
    total = lambda members: sum(records[at][2] for at in members)
    sets.sort(key=lambda one: (-total(one[2]), records[one[0]][0].encode(), one[1]))
    lines, table = [], [TABLE]
    for number, (at, _, members) in enumerate(sets, 1):
        (name, text, _, values), size = records[at], total(members)
        for member in sorted(members):
            other = records[member]
            strand = "-" if rules["both"] and other[1] != text else "+"
            table.append("\t".join(map(str, (number, name, other[0], strand, other[2], size))))
        if size >= rules["min_size"]:
            shown = with_size(name, size) if rules["size_out"] else name
            lines += [f"@{shown}", text, "+", values] if rules["fastq"] else [f">{shown}", text]
    return lines, table


def make(seed):
    rng = random.Random(seed)
    protein, is_fastq = rng.random() < 0.15, rng.random() < 0.5
    alphabet = AMINO if protein else "ACGT"
    texts = [letters(rng, alphabet, length(rng, rng.choice([6, 70, 257]))) for _ in range(rng.randint(1, 12))]
    for _ in range(rng.choice([0, 5, 40])):
        text, kind = rng.choice(texts), rng.random()
        if kind < 0.3:
            text = text[: rng.randint(1, len(text))]
        elif kind < 0.4:
            text += letters(rng, alphabet, rng.randint(1, 5))
        elif kind < 0.5:
            text = mutated(rng, alphabet, text, 0.05) or text
        elif kind < 0.75 and not protein:
            text = reverse_complement(text)
        texts.append(text)
    texts += [decorated(rng, rng.choice(texts), protein) for _ in range(rng.choice([0, 3, 20]))]
    rng.shuffle(texts)
    sizes = ["", "", ";size=2", ";size=7", ";size=1;", ";size=12;x=1", ";x", ";"]
    decorations = sizes if rng.random() < 0.5 else [""]
    name = lambda at: rng.choice([f"r{at}", f"R{at}", f"r{at % 4}"]) + rng.choice(decorations)
    records = [(name(at), text, "".join(chr(rng.randint(33, 126)) for _ in text)) for at, text in enumerate(texts)]
    prefix = rng.random() < 0.35
    rules = {"protein": protein, "prefix": prefix, "both": not (prefix or protein) and rng.random() < 0.5}
    rules |= {"size_in": rng.random() < 0.4, "size_out": rng.random() < 0.5}
    rules |= {"min_size": rng.choice([1, 1, 1, 2, 5]), "fastq": is_fastq and rng.random() < 0.7}
    words = ["dedup", "-q", "--alphabet", "protein" if protein else "dna"]
    words += ["--by", "prefix"] * prefix + ["--both-strands"] * rules["both"]
    words += ["--size-in"] * rules["size_in"] + ["--size-out"] * rules["size_out"]
    words += ["--min-size", str(rules["min_size"])] * (rules["min_size"] > 1)
    words += ["--format", "fasta"] * (is_fastq and not rules["fastq"])
    cut = rng.randint(0, len(records)) if rng.random() < 0.3 else len(records)
    files = {}
    for at, part in enumerate(filter(None, (records[:cut], records[cut:]))):
        data, ending = packed(rng, fastq(part) if is_fastq else fasta(rng, part))
        files[f"reads{at}.{'fq' if is_fastq else 'fa'}{ending}"] = data
    return Case([*words, *files], records, [], files, rules)


def check(program, rng, case):
    """Stdout, the table, and a packed file with another number of threads."""
    lines, table = expected(case)
    case.reference["expected"] = "".join(f"{line}\n" for line in lines)
    words = [*case.words, "--table", "sets.tsv"]
    got = program.run(words)
    compare_lines(words, lines, got.decode().splitlines())
    compare_lines([*words, "#table"], table, (program.folder / "sets.tsv").read_text().splitlines())
    name = rng.choice(["out.gz", "out.fasta"])
    words = [*case.words, "-t", rng.choice("124"), "-o", name]
    program.run(words)
    data = (program.folder / name).read_bytes()
    try:
        data = gzip.decompress(data) if name.endswith(".gz") else data
    except (OSError, EOFError) as error:
        raise Difference(words, f"no gzip: {error}") from None
    compare_bytes(words, got, data)
