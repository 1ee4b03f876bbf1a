#!/usr/bin/env python3
"""Fuzzes whole commands of swalign against a reference of its own (scripts/fuzzing/reference.py).

    scripts/fuzz.py [--seed N] [--cases N] [--seconds S] [--swalign PATH] [--gpu NAME] [--keep DIR] [-v]
    scripts/fuzz.py --seed N --first I --cases 1     case I again
    scripts/fuzz.py --self-test                      does the fuzzer notice faults?

Each case is a small input with options, and of one kind: searches and pairs in mode local, in other modes, mates,
rearranged reads, lanes, two tiers of hits, lists of hits, `all`, `search`, `grep`, `dedup` and `audit`. SAM, PAF, tables, JSON and matrices must be those of the reference,
BAM and text tell the same, and other devices, threads, filters, batches, parts, --no-dedup and a database in the place
of the references must give the same bytes. Long reads on a sampled index must have the hits that they have without a filter. A failure prints
the command, the seed and the first difference, keeps the inputs, and makes them smaller; the exit code is 1.
The cases of a seed are always the same. It needs Python's standard library only.
"""

import argparse
import os
import gzip
import random
import shlex
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.dont_write_bytecode = True
from fuzzing import audits, cases, lanes, limits, list_checks, lists, mates, modes, reference, searches, sets, tiers, triangle  # noqa: E402
from fuzzing.program import (  # noqa: E402
    Difference, Program, compare_bytes, compare_lines, part_of, perhaps_database, read_bam, way
)  # fmt: skip

ROOT = Path(__file__).resolve().parents[1]
SHRINK_SECONDS = 30
# Share of each kind of cases. The other cases are searches and pairs, with single reads in local mode.
SHARES = {
    "search": 0.1, "grep": 0.05, "mates": 0.17, "modes": 0.17, "dedup": 0.06, "lists": 0.18, "all": 0.06, "cuts": 0.06,
    "lanes": 0.05, "tiers": 0.04, "long": 0.03, "audit": 0.05,
}  # fmt: skip
# Share of the `grep` cases that look up words.
FIXED = 0.4


def check_alignment(program, rng, case):
    scoring, rules = case.reference["scoring"], case.reference["rules"]
    sam, paf = [], []
    for lines in expected_lines(case):
        sam, paf = sam + lines[0], paf + lines[1]
    case.reference["expected"] = "".join(f"{line}\n" for line in sam)
    outputs = {}

    def plain(format):
        if format not in outputs:
            outputs[format] = program.run([*case.words, "--format", format])
        return outputs[format]

    text = plain("sam").decode().splitlines()
    header = [line for line in text if line.startswith("@") and line[3:4] == "\t"]
    topology = lambda name: "\tTP:circular" if name in rules["circles"] else ""
    places = [f"@SQ\tSN:{name}\tLN:{len(letters)}{topology(name)}" for name, letters in case.targets]
    several = case.reference.get("lanes")
    group = [lane["group"] for lane in several] if several else [rules["group"]] if rules["group"] else []
    comments = [line for line in header if line.startswith("@CO")]
    compare_lines(case.words, ["@HD\tVN:1.6\tSO:unsorted", *places, *group], header[: -1 - len(comments)])
    told = [f"@CO\tswalign hits: min_score={rules.get('told', rules['min_score'])} "]
    if insert := case.reference.get("insert") or case.reference.get("lanes insert"):
        told.append("@CO\tswalign insert: orientation={2} mean={0} deviation={1}".format(*insert))
    elif several and any(lane["paired"] for lane in several):
        told.append("@CO\tswalign insert: of each lane, from its first pairs")
    if split := rules.get("split"):
        told.append(f"@CO\tswalign split: split_score={split[0]}")
    for want, have in zip(told, comments[1:] + [""] * len(told)):
        if not have.startswith(want):
            raise Difference(case.words, f"the header should tell '{want}', and has '{have}'")
    compare_lines(case.words, sam, text[len(header) :])
    formats = ["sam", "paf"] + ["bam"] * (not scoring.protein)
    if rng.random() < 0.5:
        compare_lines([*case.words, "--format", "paf"], paf, plain("paf").decode().splitlines())
    if rng.random() < 0.4 and "bam" in formats:
        compare_bam(case, header, sam, plain("bam"))
    for _ in range(rng.choice([1, 1, 2, 3])):
        format = rng.choice(formats)
        words, expected = [*case.words, "--format", format, *way(rng, program, case.words, True, "find" not in rules)], plain(format)
        with perhaps_database(rng, program, case) as before:
            compare_bytes([*before, *words], expected, program.run(words))
    if "bam" in formats and not case.reference["paired"] and rng.random() < 0.15:
        compare_sorted(case, program, header, plain("bam"))
    # Runs on parts of the references do not support circles or split reads, and for mates they need --insert.
    is_estimated = "insert" in case.reference and "--insert" not in case.words
    whole_references = case.reference["paired"] or rules.get("split") or rules["circles"] or is_estimated or rules.get("hash") or several
    for kind in ["--part"] + ["--ref-part"] * (not whole_references):
        if rng.random() < 0.12 + 0.13 * (kind == "--ref-part"):
            # Joined parts also have the same lists of mates.
            has_lists = "insert" in case.reference and kind == "--ref-part" and not rules.get("cs") and not case.reference["scoring"].end_bonus
            format = rng.choice([*formats, "tab", "json"] if has_lists else formats)
            words, expected = [*case.words, *way(rng, program, case.words, True, "find" not in rules)], plain(format)
            is_limited = kind == "--ref-part" and format in formats
            is_local = "find" not in rules
            if more := limits.of_parts(rng, case.words, is_local) if is_limited else []:
                expected, more = run_limited(program, [*case.words, "--format", format], more)
                words = [*more, *words]
            with perhaps_database(rng, program, case):
                part_of(program, rng, case, words, kind, format, expected)


def check_long(program, rng, case):
    """Long reads on a sampled index, in segments, from a database or in parts, have the hits that they have without a filter."""
    format = rng.choice(["sam", "paf", "bam"])
    words = [*case.words, "--format", format]
    expected = program.run([*words, "--filter", "none"])
    for _ in range(rng.choice([2, 3])):
        ways = way(rng, program, case.words, True)
        with perhaps_database(rng, program, case, 0.4) as before:
            compare_bytes([*before, *words, *ways], expected, program.run([*words, *ways]))
    kind = rng.choice(["--part", "--ref-part"])
    if rng.random() < 0.3 and (kind == "--part" or "--no-split" in words):
        with perhaps_database(rng, program, case):
            part_of(program, rng, case, [*case.words, *way(rng, program, case.words, True)], kind, format, expected)


def run_limited(program, words, more):
    """The output with more words, and these words. Some scores have no E-values."""
    try:
        return program.run([*more, *words]), more
    except Difference as difference:
        if "there are no E-values" not in difference.args[1]:
            raise
    at = more.index("--evalue")
    more = more[:at] + more[at + 2 :]
    return program.run([*more, *words]), more


def expected_lines(case):
    """The lines of each query, or of each pair of mates, in SAM and PAF, of several lanes one after the other."""
    scoring, rules, queries = case.reference["scoring"], case.reference["rules"], case.queries
    every = dict(enumerate(case.targets))
    if "lanes" in case.reference:
        for lane in case.reference["lanes"]:
            own, insert = {**rules, "group": lane["group"]}, case.reference["lanes insert"]
            if lane["paired"]:
                insert, pairs = insert_of(lane["records"], insert, every, scoring, own)
                yield from (mates.lines(pair, every, scoring, own, insert) for pair in pairs)
            else:
                yield from (reference.lines(query, every, scoring, own) for query in lane["records"])
    elif "insert" in case.reference:
        case.reference["insert"], pairs = insert_of(queries, case.reference["insert"], every, scoring, rules)
        yield from (mates.lines(pair, every, scoring, rules, case.reference["insert"]) for pair in pairs)
    else:
        for at, query in enumerate(queries):
            targets = {at: case.targets[at]} if case.reference["paired"] else every
            yield reference.lines(query, targets, scoring, rules)


def insert_of(queries, insert, targets, scoring, rules):
    """The insert size of mates, estimated if none is given, and the pairs."""
    pairs = list(zip(queries[::2], queries[1::2]))
    searched = lambda letters: reference.search(letters, targets, scoring, {**rules, "max_hits": 2})["hits"]
    return insert or mates.estimate([[record[1] for record in pair] for pair in pairs], searched), pairs


def compare_sorted(case, program, header, data):
    """--sort gives the records of the unsorted run by reference, place and strand, of equal ones the earlier first."""
    words = [*case.words, "--sort"]
    names = {line.split("\t")[1][3:]: at for at, line in enumerate(header) if line.startswith("@SQ")}

    def key(line):
        fields = line.split("\t")
        return names.get(fields[2], len(names) + 1), int(fields[3]), int(fields[1]) & 16

    found = read_bam(words, program.run(words))
    compare_lines(words, sorted(read_bam(words, data)[1], key=key), found[1])


def compare_bam(case, header, sam, data):
    """BAM's records are those of SAM, with letters that it has."""
    words = [*case.words, "--format", "bam"]
    found = read_bam(words, data)
    compare_lines(words, header, found[0])
    lines = [line.split("\t") for line in sam]
    upper = [[*line[:9], line[9].upper().replace("U", "T"), *line[10:]] for line in lines]
    compare_lines(words, ["\t".join(line) for line in upper], found[1])


def check_search(program, rng, case):
    expected = searches.expected_search(case)
    case.reference["expected"] = "".join(f"{line}\n" for line in expected)
    got = program.run(case.words)
    compare_lines(case.words, expected, got.decode().splitlines())
    if case.words[1] == "-k" and case.words[2].isdigit() and not {"--best", "--first"} & set(case.words):
        words = [*case.words[:2], str(int(case.words[2]) + 1), *case.words[3:]]
        more = program.run(words).decode().splitlines()
        compare_lines(words, expected, [line for line in more if line in set(expected)])
    words, files, output, lines = rng.choice(list(searches.other_outputs(rng, case, expected)))
    words = [case.words[0], *words, *case.words[1:]]
    for name, data in files.items():
        (program.folder / name).write_bytes(data)
        case.files[name] = data
    printed = program.run(words)
    got_there = printed if output is None else (program.folder / output).read_bytes()
    compare_lines(words, lines, got_there.decode().splitlines())
    words = [*case.words, *way(rng, program, case.words, False)]
    with perhaps_database(rng, program, case) as before:
        compare_bytes([*before, *words], got, program.run(words))
        if rng.random() < 0.2:
            part_of(program, rng, case, words, "--part", "tsv", got)
    if rng.random() < 0.1:
        check_changed(program, rng, case)


def check_changed(program, rng, case):
    """A file of texts that changes between two passes is an error, whatever changed: its content, its size or its identity."""
    words, name = [*case.words[:-1], "--format", "sam"], case.words[-1]
    try:
        program.run([*words, "-o", "x.sam", name])
    except Difference:
        # SAM cannot hold these names.
        return
    data = case.files[name]

    def change(path):
        kind = rng.choice(["replaced", "longer", "written again"])
        if kind == "replaced":
            path.with_name("new").write_bytes(data)
            path.with_name("new").rename(path)
        elif kind == "longer":
            path.write_bytes(data + b"\n")
        else:
            path.write_bytes(data)
            os.utime(path, ns=(0, 0))

    words += ["-o", "out.pipe", "--summary", "side.pipe", name]
    code, errors = program.run_while_changing(words, name, change)
    (program.folder / name).write_bytes(data)
    if code != 1 or "file changed" not in errors:
        raise Difference(words, f"the file changed between two passes, and the exit code is {code}: {errors.strip()}")


def check_grep(program, rng, case):
    expected = searches.expected_grep(case)
    case.reference["expected"] = "".join(f"{line}\n" for line in expected)
    code = searches.grep_code(case, expected)
    got = program.run(case.words, [code])
    compare_lines(case.words, expected, got.decode().splitlines())
    words = [*case.words, *way(rng, program, case.words, False)]
    compare_bytes(words, got, program.run(words, [code]))


def write(case, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name in cases.DNA_MATRICES:
        if name in case.words:
            case.files[name] = (ROOT / "tests/golden" / name).read_bytes()
    for name, data in case.files.items():
        (folder / name).write_bytes(data)


def check(program, check_case, case, seed):
    """The difference of a case, or None. The ways that it runs in depend on the seed only."""
    for path in program.folder.iterdir():
        path.unlink()
    write(case, program.folder)
    try:
        check_case(program, random.Random(f"{seed} ways"), case)
    except Difference as difference:
        return difference
    return None


def plain_fasta(records):
    return "".join(f">{record[0]}\n{record[1]}\n" for record in records).encode()


def with_records(case, queries, targets):
    """The case with other records, in plain files of the same names."""
    files = dict(case.files)
    for name in files:
        stem = name.split(".")[0]
        if stem in ("m1", "m2"):
            queries_of = queries[int(stem[1]) - 1 :: 2]
            data = cases.fastq(queries_of) if ".fq" in name else plain_fasta(queries_of)
            files[name] = gzip.compress(data, mtime=0) if name.endswith(".gz") else data
        if stem in "qpt" and len(stem) == 1:
            records = targets if stem == "t" else queries
            if ".fq" in name:
                data = cases.fastq(records)
            else:
                data = plain_fasta(records)
            files[name] = gzip.compress(data, mtime=0) if name.endswith(".gz") else data
    return replace(case, queries=queries, targets=targets, files=files, reference=dict(case.reference))


def smaller(case):
    """Cases with fewer records, or with fewer letters, the largest steps first."""
    paired, of_mates = case.reference.get("paired"), "insert" in case.reference
    for at in (0, 1):
        records, others = (case.queries, case.targets) if at == 0 else (case.targets, case.queries)
        least = 2 if of_mates and at == 0 else 1
        step = len(records) // 2 // least * least
        while step > 0 and not (paired and at):
            for start in range(0, len(records), step):
                left = records[:start] + records[start + step :]
                others_left = others[:start] + others[start + step :] if paired else others
                if left:
                    yield with_records(case, *((left, others_left) if at == 0 else (others_left, left)))
            step = step // 2 // least * least
    for at in (1, 0):
        records = (case.queries, case.targets)[at]
        for number, record in enumerate(records):
            for share in (2, 4, 8, 16, len(record[1]) or 1):
                cut = len(record[1]) // share
                for keep in (slice(cut, None), slice(None, len(record[1]) - cut)) if cut else ():
                    shorter = (record[0], record[1][keep], *(value and value[keep] for value in record[2:]))
                    if shorter[1]:
                        changed = records[:number] + [shorter] + records[number + 1 :]
                        yield with_records(case, *((changed, case.targets) if at == 0 else (case.queries, changed)))


def shrunk(program, check_case, case, seed, difference):
    """A smaller case that still differs; where the command failed, it must fail there, and only there."""
    failed = lambda difference: difference.args[1].startswith("exit code")
    if case.words[0] in ("grep", "dedup", "all", "audit") or case.reference.get("lanes") or "p.fa" not in case.files and case.words[0] == "search":
        return case
    end, again = time.monotonic() + SHRINK_SECONDS, True
    while again:
        again = False
        for candidate in smaller(case):
            if time.monotonic() > end:
                return case
            found = check(program, check_case, candidate, seed)
            if found and failed(found) == failed(difference):
                case, again = candidate, True
                break
    return case


def report(program, check_case, case, seed, difference, keep, shrink):
    words, what = difference.args
    folder = keep / seed.replace(" ", "-")
    write(case, folder)
    command = shlex.join(["swalign", *words])
    (folder / "command.txt").write_text(f"{command}\n\n{what}\n")
    (folder / "expected.txt").write_text(case.reference.get("expected", ""))
    number = seed.split()
    print(f"DIFFERENCE  --seed {number[0]} --first {number[1]} --cases 1\n  {command}\n  {what}\n  inputs: {folder}")
    if shrink:
        small = shrunk(program, check_case, case, seed, difference)
        again = check(program, check_case, small, seed)
        if small is not case and again:
            write(small, folder / "small")
            (folder / "small/expected.txt").write_text(small.reference.get("expected", ""))
            words, what = again.args
            print(f"  smaller: {shlex.join(['swalign', *words])}\n  {what}\n  inputs: {folder / 'small'}")
    sys.stdout.flush()


def make(seed, only, small):
    """The case of a seed, and how it is checked."""
    shares = {**SHARES, "align": 1 - sum(SHARES.values())}
    kind = only or random.Random(f"{seed} kind").choices(list(shares), shares.values())[0]
    if kind == "search":
        return searches.make_search(seed), check_search
    if kind == "grep":
        fixed = random.Random(f"{seed} grep").random() < FIXED
        return searches.make_words(seed) if fixed else searches.make_grep(seed), check_grep
    if kind == "mates":
        return cases.make_mates(seed, small), check_alignment
    if kind == "audit":
        return audits.make(seed), audits.check
    if kind == "dedup":
        return sets.make(seed), sets.check
    if kind == "all":
        return triangle.make(seed, small), triangle.check
    if kind == "lists":
        return lists.make(seed, small), list_checks.check
    if kind == "tiers":
        return tiers.make(seed, small), check_alignment
    if kind == "long":
        return tiers.make_long(seed), check_long
    if kind == "lanes":
        return lanes.make(seed, small), check_alignment
    if kind == "modes":
        return modes.make(seed, small), check_alignment
    return cases.make(seed, small, kind == "cuts"), check_alignment


def fuzz(arguments):
    """Runs cases until one of the limits; the number of differences."""
    keep = Path(arguments.keep)
    work = keep / f"work.{arguments.seed}"
    work.mkdir(parents=True, exist_ok=True)
    program = Program(arguments.swalign, work.resolve(), arguments.gpu)
    start, done, differences = time.monotonic(), 0, 0
    for at in range(arguments.first, arguments.first + arguments.cases):
        if time.monotonic() - start > arguments.seconds or differences >= arguments.most:
            break
        seed = f"{arguments.seed} {at}"
        case, check_case = make(seed, arguments.only, arguments.small)
        if arguments.verbose:
            print(f"{seed}: {shlex.join(['swalign', *case.words])[:150]}", flush=True)
        difference = check(program, check_case, case, seed)
        done += 1
        if difference:
            differences += 1
            report(program, check_case, case, seed, difference, keep, not arguments.no_shrink)
    for path in work.iterdir():
        path.unlink()
    work.rmdir()
    seconds = time.monotonic() - start
    print(f"fuzz: seed {arguments.seed}, {done} cases, {program.runs} runs, {differences} differences, {seconds:.0f} s")
    return differences


def default_program():
    built = [ROOT / "target" / kind / "swalign" for kind in ("debug", "release")]
    return next((path for path in built if path.exists()), built[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="I", help="number of the first case")
    parser.add_argument("--cases", type=int, default=1 << 60, metavar="N")
    parser.add_argument("--seconds", type=float, default=120, metavar="S")
    parser.add_argument("--most", type=int, default=1, metavar="N", help="differences after which it stops")
    parser.add_argument("--swalign", default=default_program(), metavar="PATH")
    parser.add_argument("--gpu", metavar="NAME", help="also run on the GPU of this name")
    parser.add_argument("--keep", default=ROOT / "target/fuzz", metavar="DIR", help="where inputs of failures stay")
    parser.add_argument("--only", choices=["align", *SHARES], help="one kind of cases")
    parser.add_argument("--small", action="store_true", help="no targets that are large enough for the filter")
    parser.add_argument("--no-shrink", action="store_true", help="leave failing inputs as large as they are")
    parser.add_argument("--self-test", action="store_true", help="see whether the fuzzer notices faults")
    parser.add_argument("-v", "--verbose", action="store_true")
    arguments = parser.parse_args()
    if not Path(arguments.swalign).exists():
        parser.error(f"{arguments.swalign} is not there; build it with cargo build, or give --swalign")
    if arguments.self_test:
        from fuzzing import self_test

        return self_test.run(arguments)
    return 1 if fuzz(arguments) else 0


if __name__ == "__main__":
    sys.exit(main())
