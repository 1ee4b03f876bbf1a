"""Makes cases of lanes: several files of reads in one run, in lists or in a sample sheet (docs/output.md, "Lanes")."""

import random

from .cases import (
    Case, fasta, fastq, make_library, make_pairs, make_query, make_records, make_repeats, make_rules, make_scoring, make_split,
    make_targets, packed
)  # fmt: skip

STEMS = ["a", "b", "c2", "S1_L001", "S1_L002", "x-y", "reads", "7"]
# Maximum number of cells of the matrices of each lane.
CELLS = 60_000


def make_lane(rng, stem, is_paired, pool, row):
    """The records of a lane, the names of its files, and their contents."""
    if is_paired:
        letters = make_pairs(rng, make_library(rng), pool, row, CELLS)
        suffixes = rng.choice([("", ""), ("/1", "/2"), ("_1", "_2")])
        names = [f"r{at // 2}{suffixes[at % 2]}" for at in range(len(letters))]
    else:
        letters = [make_query(rng, list("ACGT"), False, pool, 100) for _ in range(rng.randint(1, 8))]
        names = [f"r{at}" for at in range(len(letters))]
    records, kind, _ = make_records(rng, names, letters)
    return records, kind, stem


def files_of(rng, lane, is_paired):
    """The files of a lane by name: one, or those of both mates."""
    records, kind, stem = lane
    data = fastq if kind == "fq" else lambda records: fasta(rng, records)
    if not is_paired:
        content, ending = packed(rng, data(records))
        return {f"{stem}.{kind}{ending}": content}
    ends, files = rng.choice([("_1", "_2"), ("_R1", "_R2"), (".1", ".2"), ("_R1_001", "_R2_001")]), {}
    for at, end in enumerate(ends):
        content, ending = packed(rng, data(records[at::2]))
        files[f"{stem}{end}.{kind}{ending}"] = content
    return files


def sheet_of(rng, lanes):
    """A sample sheet of lanes, each a pair of a dict of the fields of its group and its files."""
    columns = ["ID", "reads1", "reads2", *sorted({tag for fields, _ in lanes for tag in fields if tag != "ID"})]
    if all(len(files) == 1 for _, files in lanes) and rng.random() < 0.5:
        columns.remove("reads2")
    rng.shuffle(columns)
    lines = ["\t".join(columns)]
    for fields, files in lanes:
        known = {**fields, **dict(zip(("reads1", "reads2"), files))}
        lines.append("\t".join(known.get(column, "") for column in columns))
        lines += [""] * (rng.random() < 0.1)
    return ("\n".join(lines) + "\n" * (rng.random() < 0.8)).encode()


def make(seed, small=False):
    """The case of a seed: lanes of single reads, of mates or, in a sheet, of both."""
    rng = random.Random(seed)
    scoring, words, files = make_scoring(rng, False)
    make_texts = make_repeats if rng.random() < 0.2 else make_targets
    targets = make_texts(rng, list("ACGT"), False, rng.choice([60, 150, 300, 500] + [800, 1500] * (not small)))
    pool, row = [text.upper() for text in targets], 2 * sum(map(len, targets))
    kind, stems = rng.choice(["list", "list", "interleaved", "sheet", "sheet"]), rng.sample(STEMS, rng.choice([2, 2, 3, 4]))
    alike = kind == "interleaved" or rng.random() < 0.7
    paired = [alike if kind != "sheet" else rng.random() < 0.6 for _ in stems]
    lanes = [make_lane(rng, stem, is_paired, pool, row) for stem, is_paired in zip(stems, paired)]
    of_lanes = [files_of(rng, lane, is_paired and kind != "interleaved") for lane, is_paired in zip(lanes, paired)]
    records = [record for own, _, _ in lanes for record in own]
    rules, further = make_rules(rng, scoring, "--matrix" in words, [letters for _, letters, *_ in records])
    further = further[:-2] if rules["group"] else further
    max_hits = rng.choice([1, 1, 2, 5])
    words = [*words, "--alphabet", "dna", *further, *["--max-hits", str(max_hits)] * (max_hits > 1)]
    rules |= make_split(rng, words, "--matrix" in words, scoring, rules["min_score"])
    rules |= {"strands": "+-", "max_hits": max_hits, "circles": [], "group": None}
    if rng.random() < 0.15:
        rules["hash"] = True
        words += ["--tie-break", "hash"]
    insert = None
    if any(paired) and rng.random() < 0.3:
        orientation, mean, deviation = make_library(rng)
        insert = mean, deviation, orientation
        words += ["--insert", f"{mean},{deviation},{orientation}"]
    fields = [{"ID": stem} for stem in stems]
    if kind == "sheet" or rng.random() < 0.4:
        fields = [{"ID": f"{rng.choice(['', 'lane ', 'x:'])}{at}"} for at in range(len(stems))]
        for own in fields:
            own |= {tag: rng.choice(["one", "a b", "2"]) for tag in ("SM", "LB", "PL", "PU") if rng.random() < 0.4}
    groups = ["\t".join(["@RG", *(f"{tag}:{value}" for tag, value in own.items())]) for own in fields]
    for own in of_lanes:
        files |= own
    if kind == "sheet":
        files["lanes.tsv"] = sheet_of(rng, list(zip(fields, of_lanes)))
        reads = ["--sample-sheet", "lanes.tsv"]
    else:
        reads = ["--interleaved"] * (kind == "interleaved") + [",".join(names) for names in zip(*of_lanes)]
        if fields[0] != {"ID": stems[0]}:
            words += [word for group in groups for word in ("-R", group)]
    targets = [(f"t{at}", text) for at, text in enumerate(targets)]
    target, ending = packed(rng, fasta(rng, targets))
    files[f"t.fa{ending}"] = target
    known = [{"records": own, "group": group, "paired": is_paired} for (own, _, _), group, is_paired in zip(lanes, groups, paired)]
    known = {"scoring": scoring, "rules": rules, "paired": False, "lanes": known, "lanes insert": insert}
    return Case([*words, *reads, f"t.fa{ending}"], records, targets, files, known)
