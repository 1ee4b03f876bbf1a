#!/usr/bin/env python3
"""Other exact aligners on the CPU, one thread each, on the inputs of scripts/bench.sh, beside swalign.

    scripts/peers.py inputs FOLDER PAIRS READS    makes pairs.q.fa, pairs.t.fa, reads.fq; prints their cells
    scripts/peers.py grep SWALIGN [FILE]          lines with errors, below
    scripts/peers.py words SWALIGN LINES          lines with any of many words, below
    scripts/peers.py long SWALIGN PRESET READS REFERENCE    long reads that minimap2 maps otherwise, below
    scripts/peers.py run SWALIGN PAIRS QUERIES    compares; a table of work, cells, wall seconds, GCUPS, note

`run` takes PAIRS pairs of 150 x 241 where the peer takes pairs, and QUERIES queries against 500 targets
where it takes all against all. Scoring is match 1, mismatch -4, a gap of k costs 6 + k everywhere; where
a peer's first residue of a gap costs the whole of `open`, that is 7. What a peer scores is compared with
swalign. A peer that isn't there is named, with the package that has it; the exit code is 1 if one fails or differs.

`grep` compares `swalign grep` with ugrep -Z, agrep and tre-agrep. The text is FILE, or the dictionary of Debian's
package dict-gcide (English prose, 40 MB), over and over up to 92 MB. Every program prints its lines to a file;
the best of some runs is given, and lines that only one of the two prints are counted. Locale C: in UTF-8 tre-agrep
ends at the first byte that is none.

`words` compares `swalign grep -F -f` with rg and grep, anywhere and as whole lines: 1000 to 1,000,000 words of 4 to 12 letters
in LINES short lines, one in three of them a word; all print the same lines. Of whole lines rg 13 finds none where there are
many words, so that grep alone is the peer, with up to 100,000 words.

`long` compares the best alignment of each read with that of minimap2, both by the numbers of minimap2's PRESET (map-ont,
map-pb, map-hifi, asm5), one thread each, and prints the reads that differ: what each scores, and where. Below is counted how many minimap2 misses,
scores lower, and has at another place though that scores lower, with MAPQ 60 too. It can't score higher: then the exit code is 1.
"""
import collections
import gzip
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ONE_THREAD = ["--device", "cpu", "--threads", "1", "--quiet", "--min-score", "1"]
SCORING = ["--match", "1", "--mismatch", "4", "--gap-open", "6", "--gap-extend", "1"]


def fasta(path):
    """Names and sequences of a FASTA file."""
    records = pathlib.Path(path).read_text().split(">")[1:]
    return [(lines[0].split()[0], "".join(lines[1:])) for lines in map(str.splitlines, records)]


def repeated(file, count):
    """`count` sequences: those of the file, over and over."""
    records = fasta(file)
    return [records[index % len(records)][1] for index in range(count)]


def golden_pairs(count):
    """Reads of 150 and windows of about 250, in which they are."""
    golden = ROOT / "tests" / "golden"
    return repeated(golden / "gasal2.q.fa", count), repeated(golden / "gasal2.t.fa", count)


def write_fasta(path, sequences):
    with open(path, "w") as out:
        out.writelines(f">s{index}\n{sequence}\n" for index, sequence in enumerate(sequences))


def read_of(genome, rng):
    """150 residues of the genome with up to 3 substitutions, every second one reverse-complemented."""
    start = rng.randrange(len(genome) - 150)
    letters = list(genome[start : start + 150])
    for _ in range(rng.randrange(4)):
        letters[rng.randrange(150)] = "ACGT"[rng.randrange(4)]
    read = "".join(letters)
    return read.translate(str.maketrans("ACGT", "TGCA"))[::-1] if rng.randrange(2) else read


def inputs(folder, pairs, reads):
    """The inputs of the whole commands. Prints the cells of the pairs and those of the reads."""
    folder = pathlib.Path(folder)
    queries, targets = golden_pairs(pairs)
    write_fasta(folder / "pairs.q.fa", queries)
    write_fasta(folder / "pairs.t.fa", targets)
    rng = random.Random(1)
    [(_, genome)] = fasta(ROOT / "data" / "sars2.fa")
    with open(folder / "reads.fq", "w") as out:
        out.writelines(f"@r{index}\n{read_of(genome, rng)}\n+\n{'I' * 150}\n" for index in range(reads))
    cells = sum(len(query) * len(target) for query, target in zip(queries, targets))
    print(cells, 2 * 150 * reads * len(genome), sep="\t")


def timed(work):
    begun = time.perf_counter()
    answer = work()
    return time.perf_counter() - begun, answer


def output(command):
    # Debian's ssw_test prints each residue of a path to stderr.
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def sam_scores(sam):
    """Query name and AS of each record, 0 if it is unmapped."""
    for line in sam.splitlines():
        if not line.startswith("@"):
            name, *fields = line.split("\t")
            yield name, next((int(field[5:]) for field in fields if field.startswith("AS:i:")), 0)


def best(scores):
    """The best score of each query."""
    found = {}
    for name, score in scores:
        found[name] = max(score, found.get(name, 0))
    return found


def ssearch_scores(text):
    """Query name and score out of ssearch36's list, as in `s0  ( 241) [f]  145 ...`."""
    name = None
    for line in text.splitlines():
        if ">>>s" in line:
            name = line.split(">>>")[1].split()[0]
        elif line.startswith("s") and "[f]" in line:
            yield name, int(line.split("[f]")[1].split()[0])


def ssw_scores(text):
    """Query name and score out of ssw_test's blocks."""
    name = None
    for line in text.splitlines():
        if line.startswith("query_name:"):
            name = line.split()[1]
        elif line.startswith("optimal_alignment_score:"):
            yield name, int(line.split()[1])


class Table:
    """Prints the rows, and remembers whether all is well."""

    def __init__(self):
        self.failed = False
        print("work", "cells", "wall s", "GCUPS", "note", sep="\t")

    def row(self, work, cells, wall, note):
        print(work, cells, f"{wall:.4g}", f"{cells / wall / 1e9:.3g}", note, sep="\t", flush=True)

    def missing(self, work, remedy):
        print(work, "-", "-", "-", f"missing: {remedy}", sep="\t", flush=True)

    def compared(self, work, cells, wall, found, expected):
        same = found == expected
        self.failed |= not same
        self.row(work, cells, wall, "scores equal swalign's" if same else "SCORES DIFFER from swalign's")


def run_pairs(table, swalign, count, folder):
    queries, targets = golden_pairs(count)
    cells = sum(len(query) * len(target) for query, target in zip(queries, targets))
    q, t = folder / "q.fa", folder / "t.fa"
    write_fasta(q, queries)
    write_fasta(t, targets)
    wall, sam = timed(lambda: output([swalign, "pairs", *ONE_THREAD, *SCORING, q, t]))
    expected = [score for _, score in sam_scores(sam)]
    table.row(f"swalign pairs, {count} pairs, from FASTA to SAM, 1 thread", cells, wall, "")
    names = [f"parasail striped_sat, {count} pairs, {what}, 1 thread" for what in ("score only", "CIGAR")]
    try:
        import parasail
    except ImportError:
        for name in names:
            table.missing(name, "pip install parasail")
        return
    matrix = parasail.matrix_create("ACGT", 1, -4)
    pairs = list(zip(queries, targets))
    wall, found = timed(lambda: [parasail.sw_striped_sat(q, t, 7, 1, matrix).score for q, t in pairs])
    table.compared(names[0], cells, wall, found, expected)

    def trace(query, target):
        result = parasail.sw_trace_striped_sat(query, target, 7, 1, matrix)
        return result.score, result.cigar.decode

    wall, found = timed(lambda: [trace(q, t) for q, t in pairs])
    table.compared(names[1], cells, wall, [score for score, _ in found], expected)


def run_all(table, swalign, count, folder):
    """Every query against every target, as ssw_test and ssearch36 do; the best scores are compared."""
    queries, _ = golden_pairs(count)
    _, targets = golden_pairs(500)
    cells = sum(map(len, queries)) * sum(map(len, targets))
    q, t = folder / "q.fa", folder / "t.fa"
    write_fasta(q, queries)
    write_fasta(t, targets)
    size = f"{count} x 500 sequences"
    wall, sam = timed(lambda: output([swalign, "--forward-only", *ONE_THREAD, *SCORING, q, t]))
    expected = best(sam_scores(sam))
    table.row(f"swalign, {size}, best CIGAR of each query, 1 thread", cells, wall, "")
    ssw = ["ssw_test", "-m", "1", "-x", "4", "-o", "7", "-e", "1"]
    ssearch = "ssearch36 -q -n -3 -T 1 -r +1/-4 -f -6 -g -1 -z -1 -b 1 -d 0".split()
    peers = [
        (f"ssw_test, {size}, score only, 1 thread", [*ssw, t, q], ssw_scores, "ssw-align"),
        (f"ssw_test -c -s, {size}, every CIGAR, 1 thread", [*ssw, "-c", "-s", t, q], sam_scores, "ssw-align"),
        (f"ssearch36, {size}, score only, 1 thread", [*ssearch, q, t], ssearch_scores, "fasta3"),
    ]
    for name, command, scores, package in peers:
        if shutil.which(command[0]) is None:
            table.missing(name, f"apt-get install {package}")
            continue
        try:
            wall, text = timed(lambda: output(command))
        except subprocess.CalledProcessError as error:
            table.failed = True
            print(name, "-", "-", "-", f"FAILED: {error}", sep="\t", flush=True)
            continue
        table.compared(name, cells, wall, best(scores(text)), expected)


def like(target, size, every, rng):
    """A stretch of `target` with a substitution in `every` letters and a gap in five times as many."""
    place, letters = rng.randrange(len(target) - size + 1), []
    while len(letters) < size:
        event = rng.randrange(10 * every)
        if event >= 12:
            letters.append(target[place] if place < len(target) else rng.choice("ACGT"))
        elif event > 0:
            letters.append(rng.choice("ACGT"))
        place += event != 1
    return "".join(letters)


def best_of(calls, work):
    """The shortest time of some calls, and the answer."""
    return min((timed(work) for _ in range(calls)), key=lambda timed: timed[0])


def run_kinds(table, swalign, cells, folder):
    """parasail on pairs like those of `cargo bench --bench cpu`; every score is compared."""
    try:
        import parasail
    except ImportError:
        table.missing("parasail, pairs that are alike or not, 1 thread", "pip install parasail")
        return
    matrix = parasail.matrix_create("ACGT", 2, -3)
    scoring = ["--match", "2", "--mismatch", "3", "--gap-open", "5", "--gap-extend", "2"]
    rng = random.Random(7)
    for rows, cols in [(150, 200), (500, 500)]:
        for kind, every in [("similar", 20), ("random", None)]:
            targets = ["".join(rng.choices("ACGT", k=cols)) for _ in range(max(1, cells // rows // cols))]
            queries = [like(t, rows, every, rng) if every else "".join(rng.choices("ACGT", k=rows)) for t in targets]
            q, t = folder / "q.fa", folder / "t.fa"
            write_fasta(q, queries)
            write_fasta(t, targets)
            expected = [score for _, score in sam_scores(output([swalign, "pairs", *ONE_THREAD, *scoring, q, t]))]
            all_cells, pairs = rows * cols * len(targets), list(zip(queries, targets))
            for peer in ["sw_striped_16", "sw_striped_sat", "sw_trace_scan_16", "sw_trace_striped_16"]:
                align = getattr(parasail, peer)

                def answer(query, target):
                    result = align(query, target, 7, 2, matrix)
                    return result.score if "trace" not in peer else (result.score, result.cigar.decode)[0]

                wall, found = best_of(3, lambda: [answer(query, target) for query, target in pairs])
                name = f"parasail {peer}, {rows} x {cols}, {kind}, 2/3/5/2, 1 thread"
                table.compared(name, all_cells, wall, found, expected)


def run_proteins(table, cells):
    """pyopal: one query of 400 against many of about 350."""
    try:
        import pyopal
    except ImportError:
        table.missing("pyopal, protein, one query against many, 1 thread", "pip install pyopal")
        return
    rng = random.Random(8)
    letters = "ARNDCQEGHILKMFPSTWYV"
    query = "".join(rng.choices(letters, k=400))
    targets = ["".join(rng.choices(letters, k=rng.randrange(175, 525))) for _ in range(max(1, cells // 400 // 350))]
    database = pyopal.Database(targets)
    aligner = pyopal.Aligner(gap_open=11, gap_extend=1)
    for mode in ["score", "end", "full"]:
        wall, _ = best_of(3, lambda: aligner.align(query, database, mode=mode, algorithm="sw"))
        name = f"pyopal {mode}, protein, one query of 400 against many of about 350, 1 thread"
        table.row(name, 400 * sum(map(len, targets)), wall, "its scores are not compared")


DICTIONARY = pathlib.Path("/usr/share/dictd/gcide.dict.dz")
ENGLISH = 92_000_000
GREPS = [("individual", 0), ("individual", 1), ("individual", 2), ("government", 2), ("individual", 3),
         ("characteristically", 3), ("an approximate match of", 4)]


def english(file, out):
    """Whole lines of the text, as many as go into so many bytes."""
    text = pathlib.Path(file).read_bytes() if file else gzip.open(DICTIONARY).read()
    text = (text * (ENGLISH // len(text) + 1))[:ENGLISH]
    out.write_bytes(text[: text.rindex(b"\n") + 1])


def run_grep(swalign, file):
    """Lines with errors, of every program; what they print is compared with swalign's."""
    print("program", "pattern", "edits", "wall s", "lines", "lines that swalign has not", "missed", sep="\t")
    environment = {**os.environ, "LC_ALL": "C"}
    with tempfile.TemporaryDirectory() as folder:
        text, found = pathlib.Path(folder) / "english.txt", pathlib.Path(folder) / "found.txt"
        english(file, text)
        for pattern, edits in GREPS:
            programs = [
                ("swalign grep -t 1", 7, [swalign, "grep", "-t", "1", "-k", str(edits)]),
                ("swalign grep -t 2", 7, [swalign, "grep", "-t", "2", "-k", str(edits)]),
                ("agrep", 5, ["agrep", f"-{edits}"] if edits else ["agrep"]),
                ("ugrep -Z", 3, ["ugrep", f"-Z{edits}"] if edits else ["ugrep"]),
                ("tre-agrep", 1, ["tre-agrep", "-E", str(edits)]),
            ]
            expected = None
            for name, calls, command in programs:
                if shutil.which(command[0]) is None:
                    print(name, "missing: apt-get install tre-agrep ugrep glimpse", sep="\t")
                    continue

                def work():
                    with open(found, "wb") as out:
                        code = subprocess.run([*command, pattern, text], stdout=out, stderr=subprocess.DEVNULL,
                                              env=environment).returncode
                    return code

                wall, code = best_of(calls, work)
                lines = found.read_bytes().splitlines()
                expected = lines if expected is None else expected
                more = sum((collections.Counter(lines) - collections.Counter(expected)).values())
                less = sum((collections.Counter(expected) - collections.Counter(lines)).values())
                fault = "" if code in (0, 1) or lines else f"\texit code {code}"
                print(f"{name}\t{pattern}\t{edits}\t{wall:.3f}\t{len(lines)}\t{more}\t{less}{fault}", flush=True)


def run_words(swalign, lines):
    """Lines with any of many words, of every program; all must print the same."""
    print("program", "words", "place", "wall s", "lines", sep="\t")
    rng, failed = random.Random(9), False
    word = lambda: "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randrange(4, 13)))
    with tempfile.TemporaryDirectory() as folder:
        words, text, found = (pathlib.Path(folder) / name for name in ("words.txt", "lines.txt", "found.txt"))
        for count in (1000, 100_000, 1_000_000):
            own = [word() for _ in range(count)]
            words.write_text("".join(f"{one}\n" for one in own))
            text.write_text("".join(f"{rng.choice(own) if at % 3 == 0 else word()}\n" for at in range(lines)))
            for place in ("anywhere", "lines"):
                whole, expected = ["-x"] * (place == "lines"), None
                programs = [
                    ("swalign grep -t 1", [swalign, "grep", "-t", "1"]),
                    ("swalign grep -t 2", [swalign, "grep", "-t", "2"]),
                    ("rg", ["rg", "--no-config"]),
                    ("grep", ["grep"]),
                ]
                for name, command in programs:
                    if shutil.which(command[0]) is None:
                        print(name, "missing: apt-get install ripgrep", sep="\t")
                        continue
                    if whole and (name == "rg" or name == "grep" and count > 100_000):
                        continue
                    command = [*command, "-F", *whole, "-f", words, text]

                    def work():
                        with open(found, "wb") as out:
                            return subprocess.run(command, stdout=out, env={**os.environ, "LC_ALL": "C"}).returncode

                    wall, code = best_of(2, work)
                    printed = found.read_bytes()
                    expected = printed if expected is None else expected
                    right = code == 0 and printed == expected
                    failed |= not right
                    fault = "" if right else "\tother lines"
                    print(f"{name}\t{count}\t{place}\t{wall:.3f}\t{printed.count(10)}{fault}", flush=True)
    sys.exit(failed)


def primaries(sam):
    """Place (None if it is unmapped), score and MAPQ of each read's first record."""
    found = {}
    for line in sam.splitlines():
        if line.startswith("@"):
            continue
        name, flag, target, start, mapq, cigar, *_, = line.split("\t")
        if int(flag) & 0x904 or name in found:
            found.setdefault(name, (None, 0, 0))
            continue
        span = sum(int(length) for length, kind in re.findall(r"(\d+)([MDN=X])", cigar))
        place = (target, int(flag) & 16, int(start), int(start) + span)
        found[name] = (place, next(sam_scores(line))[1], int(mapq))
    return found


def run_long(swalign, preset, reads, reference):
    """Reads that minimap2 maps otherwise than swalign."""
    peer = ["minimap2", "-t", "1", "-a", "-x", preset, "--secondary=no", reference, reads]
    # With a minimum score, the best alignment is proven for every read.
    own = [swalign, "--device", "cpu", "-t", "1", "-q", "-x", preset, "--min-score", "40", "--no-split", "--max-hits", "1"]
    own += [reads, reference]
    (peer_wall, peer), (wall, own) = (timed(lambda: primaries(output(command))) for command in (peer, own))
    print("read", "swalign", "minimap2", "place", "minimap2's place", "MAPQ", "minimap2's MAPQ", sep="\t")
    counts = collections.Counter()
    for name, (place, score, mapq) in own.items():
        other, other_score, other_mapq = peer.get(name, (None, 0, 0))
        if score == other_score:
            counts["same score"] += 1
            continue
        counts["higher score" if other_score > score else "lower score" if other else "missed"] += 1
        is_there = other is None or place[:2] == other[:2] and place[2] < other[3] and other[2] < place[3]
        counts["another place"] += not is_there
        counts["another place, MAPQ 60"] += not is_there and other_mapq == 60
        places = ("-" if at is None else "{}{}:{}-{}".format(at[0], "+-"[at[1] > 0], *at[2:]) for at in (place, other))
        print(name, score, other_score, *places, mapq, other_mapq, sep="\t")
    print(f"# {len(own)} reads, swalign {wall:.2f} s, minimap2 {peer_wall:.2f} s")
    print("#", "; ".join(f"{what}: {count}" for what, count in sorted(counts.items())))
    sys.exit(counts["higher score"] > 0)


def run(swalign, pairs, queries):
    table = Table()
    with tempfile.TemporaryDirectory() as folder:
        run_pairs(table, swalign, pairs, pathlib.Path(folder))
        run_all(table, swalign, queries, pathlib.Path(folder))
        run_kinds(table, swalign, 2000 * pairs, pathlib.Path(folder))
        run_proteins(table, 4000 * pairs)
    sys.exit(table.failed)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["inputs", folder, pairs, reads]:
            inputs(folder, int(pairs), int(reads))
        case ["grep", swalign, *file] if len(file) < 2:
            run_grep(swalign, *file or [None])
        case ["words", swalign, lines]:
            run_words(swalign, int(lines))
        case ["long", swalign, preset, reads, reference]:
            run_long(swalign, preset, reads, reference)
        case ["run", swalign, pairs, queries]:
            run(swalign, int(pairs), int(queries))
        case _:
            sys.exit(__doc__)
