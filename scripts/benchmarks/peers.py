"""Other exact aligners on the CPU, one thread each, compared with swalign."""
import collections
import gzip
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

from measure import ROOT, Table, best_of, code_of, commit, installed, machine, output, timed
from sequences import fasta, target_len, write_fasta

ONE_THREAD = ["--device", "cpu", "--threads", "1", "--quiet", "--min-score", "1"]
SCORING = ["--match", "1", "--mismatch", "4", "--gap-open", "6", "--gap-extend", "1"]


def repeated(file, count):
    """The first `count` sequences of the file, repeated from its start as often as needed."""
    records = fasta(file)
    return [records[index % len(records)][1] for index in range(count)]


def golden_pairs(count):
    """Reads of 150 bases, and windows of about 250 bases that contain them."""
    golden = ROOT / "tests" / "golden"
    return repeated(golden / "gasal2.q.fa", count), repeated(golden / "gasal2.t.fa", count)


def cells_of(queries, targets):
    return sum(len(query) * len(target) for query, target in zip(queries, targets))


def files(folder, queries, targets):
    """Writes queries and targets to two files, and returns their paths."""
    paths = folder / "q.fa", folder / "t.fa"
    for path, sequences in zip(paths, (queries, targets)):
        write_fasta(path, sequences)
    return paths


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
    """Query name and score from the list of ssearch36, as in `s0  ( 241) [f]  145 ...`."""
    name = None
    for line in text.splitlines():
        if ">>>s" in line:
            name = line.split(">>>")[1].split()[0]
        elif line.startswith("s") and "[f]" in line:
            yield name, int(line.split("[f]")[1].split()[0])


def ssw_scores(text):
    """Query name and score from the blocks of ssw_test."""
    found = re.findall(r"^query_name: (\S+)$.*?^optimal_alignment_score: (\d+)", text, re.M | re.S)
    return ((name, int(score)) for name, score in found)


def library(table, name, works):
    """Imports a peer. If it is not installed, each of its works is a row that names the remedy."""
    try:
        return __import__(name)
    except ImportError:
        for work in works:
            table.missing(name, work, f"pip install {name}")


def run_pairs(table, swalign, count, folder):
    queries, targets = golden_pairs(count)
    cells, pairs = cells_of(queries, targets), list(zip(queries, targets))
    wall, sam = timed(lambda: output([swalign, "pairs", *ONE_THREAD, *SCORING, *files(folder, queries, targets)]))
    expected = [score for _, score in sam_scores(sam)]
    table.row("swalign pairs", f"{count} pairs, from FASTA to SAM, 1 thread", cells, wall)
    works = [f"{count} pairs, {what}, 1 thread" for what in ("score only", "CIGAR")]
    parasail = library(table, "parasail", works)
    if not parasail:
        return
    matrix = parasail.matrix_create("ACGT", 1, -4)

    def score(query, target):
        return parasail.sw_striped_sat(query, target, 7, 1, matrix).score

    def trace(query, target):
        result = parasail.sw_trace_striped_sat(query, target, 7, 1, matrix)
        return (result.score, result.cigar.decode)[0]

    for work, align in zip(works, (score, trace)):
        wall, found = timed(lambda: [align(query, target) for query, target in pairs])
        table.compared("parasail striped_sat", work, cells, wall, found, expected)


def run_all(table, swalign, count, folder):
    """Every query against every target, as ssw_test and ssearch36 do; the best scores are compared."""
    queries, targets = golden_pairs(count)[0], golden_pairs(500)[1]
    cells = sum(map(len, queries)) * sum(map(len, targets))
    q, t = files(folder, queries, targets)
    size = f"{count} x 500 sequences"
    wall, sam = timed(lambda: output([swalign, "--forward-only", *ONE_THREAD, *SCORING, q, t]))
    expected = best(sam_scores(sam))
    table.row("swalign", f"{size}, best CIGAR of each query, 1 thread", cells, wall)
    ssw = ["ssw_test", "-m", "1", "-x", "4", "-o", "7", "-e", "1"]
    ssearch = "ssearch36 -q -n -3 -T 1 -r +1/-4 -f -6 -g -1 -z -1 -b 1 -d 0".split()
    for name, what, command, scores, package in [
        ("ssw_test", "score only", [*ssw, t, q], ssw_scores, "ssw-align"),
        ("ssw_test -c -s", "every CIGAR", [*ssw, "-c", "-s", t, q], sam_scores, "ssw-align"),
        ("ssearch36", "score only", [*ssearch, q, t], ssearch_scores, "fasta3"),
    ]:
        work = f"{size}, {what}, 1 thread"
        if shutil.which(command[0]) is None:
            table.missing(name, work, f"apt-get install {package}")
            continue
        try:
            wall, text = timed(lambda: output(command))
        except subprocess.CalledProcessError as error:
            table.fail(name, work, error)
            continue
        table.compared(name, work, cells, wall, best(scores(text)), expected)


def like(target, size, every, rng):
    """A copy of a stretch of `target`, with a substitution in `every` bases and a gap in five times as many."""
    place, letters = rng.randrange(len(target) - size + 1), []
    while len(letters) < size:
        event = rng.randrange(10 * every)
        if event >= 12:
            letters.append(target[place] if place < len(target) else rng.choice("ACGT"))
        elif event > 0:
            letters.append(rng.choice("ACGT"))
        place += event != 1
    return "".join(letters)


def run_kinds(table, swalign, cells, folder):
    """parasail on pairs like those of `cargo bench --bench cpu`; every score is compared."""
    parasail = library(table, "parasail", ["pairs that are alike or not, 1 thread"])
    if not parasail:
        return
    matrix = parasail.matrix_create("ACGT", 2, -3)
    scoring = ["--match", "2", "--mismatch", "3", "--gap-open", "5", "--gap-extend", "2"]
    rng = random.Random(7)
    for rows, cols in [(150, 200), (500, 500)]:
        for kind, every in [("similar", 20), ("random", None)]:
            targets = ["".join(rng.choices("ACGT", k=cols)) for _ in range(max(1, cells // rows // cols))]
            queries = [like(t, rows, every, rng) if every else "".join(rng.choices("ACGT", k=rows)) for t in targets]
            sam = output([swalign, "pairs", *ONE_THREAD, *scoring, *files(folder, queries, targets)])
            expected = [score for _, score in sam_scores(sam)]
            for peer in ["sw_striped_16", "sw_striped_sat", "sw_trace_scan_16", "sw_trace_striped_16"]:
                align = getattr(parasail, peer)

                def answer(query, target):
                    result = align(query, target, 7, 2, matrix)
                    return result.score if "trace" not in peer else (result.score, result.cigar.decode)[0]

                wall, found = best_of(3, lambda: [answer(*pair) for pair in zip(queries, targets)])
                work = f"{rows} x {cols}, {kind}, 2/3/5/2, 1 thread"
                table.compared(f"parasail {peer}", work, cells_of(queries, targets), wall, found, expected)


def run_proteins(table, cells):
    """pyopal: one query of 400 residues against many of about 350."""
    pyopal = library(table, "pyopal", ["protein, one query against many, 1 thread"])
    if not pyopal:
        return
    rng = random.Random(8)
    letters = "ARNDCQEGHILKMFPSTWYV"
    query = "".join(rng.choices(letters, k=400))
    targets = ["".join(rng.choices(letters, k=rng.randrange(175, 525))) for _ in range(max(1, cells // 400 // 350))]
    database = pyopal.Database(targets)
    aligner = pyopal.Aligner(gap_open=11, gap_extend=1)
    for mode in ["score", "end", "full"]:
        wall, _ = best_of(3, lambda: aligner.align(query, database, mode=mode, algorithm="sw"))
        work = "protein, one query of 400 against many of about 350, 1 thread"
        table.row(f"pyopal {mode}", work, 400 * sum(map(len, targets)), wall, note="its scores are not compared")


def compare(table, swalign, pairs, queries):
    with tempfile.TemporaryDirectory() as folder:
        run_pairs(table, swalign, pairs, pathlib.Path(folder))
        run_all(table, swalign, queries, pathlib.Path(folder))
        run_kinds(table, swalign, 2000 * pairs, pathlib.Path(folder))
        run_proteins(table, 4000 * pairs)


def run(swalign, pairs: int, queries: int):
    """Other exact aligners on the CPU, one thread each, compared with swalign.

    Takes PAIRS pairs of 150 x 241 for peers that align pairs, and QUERIES queries against 500 targets for peers that
    align all queries to all targets. The scoring is match 1, mismatch -4, and a gap of k costs 6 + k; for peers whose
    first residue of a gap costs only the opening, the opening is 7. All scores are compared with those of swalign. The
    table names peers that are not installed, with their packages. Exit code 1 if a peer fails or differs.
    """
    table = Table(commit(), machine())
    compare(table, swalign, pairs, queries)
    sys.exit(table.failed)


DICTIONARY = pathlib.Path("/usr/share/dictd/gcide.dict.dz")
ENGLISH = 92_000_000
GREPS = [("individual", 0), ("individual", 1), ("individual", 2), ("government", 2), ("individual", 3),
         ("characteristically", 3), ("an approximate match of", 4)]


def english(file, out):
    """Writes whole lines of a text, repeated, up to ENGLISH bytes."""
    text = pathlib.Path(file).read_bytes() if file else gzip.open(DICTIONARY).read()
    text = (text * (ENGLISH // len(text) + 1))[:ENGLISH]
    out.write_bytes(text[: text.rindex(b"\n") + 1])


def grep(swalign, file=None):
    """Lines with errors, compared with ugrep -Z, agrep and tre-agrep.

    The text is FILE, or the dictionary of Debian's package dict-gcide (English prose, 40 MB), repeated up to 92 MB.
    Every program prints its lines to a file. Prints the best time of several runs, and counts the lines that only one
    of two programs prints. The locale is C: in UTF-8, tre-agrep ends at the first byte that is not valid.
    """
    print("program", "pattern", "edits", "wall s", "lines", "lines that swalign has not", "missed", sep="\t")
    with tempfile.TemporaryDirectory() as folder:
        text, found = pathlib.Path(folder) / "english.txt", pathlib.Path(folder) / "found.txt"
        english(file, text)
        for pattern, edits in GREPS:
            expected = None
            for name, calls, command in [
                ("swalign grep -t 1", 7, [swalign, "grep", "-t", "1", "-k", str(edits)]),
                ("swalign grep -t 2", 7, [swalign, "grep", "-t", "2", "-k", str(edits)]),
                ("agrep", 5, ["agrep", f"-{edits}"] if edits else ["agrep"]),
                ("ugrep -Z", 3, ["ugrep", f"-Z{edits}"] if edits else ["ugrep"]),
                ("tre-agrep", 1, ["tre-agrep", "-E", str(edits)]),
            ]:
                if not installed(command[0], "tre-agrep ugrep glimpse"):
                    continue
                wall, code = best_of(calls, lambda: code_of([*command, pattern, text], found))
                lines = collections.Counter(found.read_bytes().splitlines())
                expected = lines if expected is None else expected
                more, less = (lines - expected).total(), (expected - lines).total()
                fault = "" if code in (0, 1) or lines else f"\texit code {code}"
                print(f"{name}\t{pattern}\t{edits}\t{wall:.3f}\t{lines.total()}\t{more}\t{less}{fault}", flush=True)


def words(swalign, lines: int):
    """Lines with any of many words, compared with rg and grep.

    Searches 1000 to 1,000,000 words of 4 to 12 letters, anywhere and as whole lines, in LINES short lines, of which one
    in three is a word. All programs must print the same lines. If there are many words, rg 13 finds no whole lines, so
    that grep is the only peer, with up to 100,000 words.
    """
    print("program", "words", "place", "wall s", "lines", sep="\t")
    rng, failed = random.Random(9), False
    word = lambda: "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randrange(4, 13)))
    with tempfile.TemporaryDirectory() as folder:
        patterns, text, found = (pathlib.Path(folder) / name for name in ("words.txt", "lines.txt", "found.txt"))
        for count in (1000, 100_000, 1_000_000):
            own = [word() for _ in range(count)]
            patterns.write_text("".join(f"{one}\n" for one in own))
            text.write_text("".join(f"{rng.choice(own) if at % 3 == 0 else word()}\n" for at in range(lines)))
            for place, whole in (("anywhere", []), ("lines", ["-x"])):
                expected = None
                for name, command in [
                    ("swalign grep -t 1", [swalign, "grep", "-t", "1"]),
                    ("swalign grep -t 2", [swalign, "grep", "-t", "2"]),
                    ("rg", ["rg", "--no-config"]),
                    ("grep", ["grep"]),
                ]:
                    if whole and (name == "rg" or name == "grep" and count > 100_000) or not installed(command[0], "ripgrep"):
                        continue
                    wall, code = best_of(2, lambda: code_of([*command, "-F", *whole, "-f", patterns, text], found))
                    printed = found.read_bytes()
                    expected = printed if expected is None else expected
                    right = code == 0 and printed == expected
                    failed |= not right
                    fault = "" if right else "\tother lines"
                    print(f"{name}\t{count}\t{place}\t{wall:.3f}\t{printed.count(10)}{fault}", flush=True)
    sys.exit(failed)


def primaries(sam):
    """Position (None if it is unmapped), score and MAPQ of each read's first record."""
    found = {}
    for line in sam.splitlines():
        if line.startswith("@"):
            continue
        name, flag, target, start, mapq, cigar, *_, = line.split("\t")
        if int(flag) & 0x904 or name in found:
            found.setdefault(name, (None, 0, 0))
            continue
        place = (target, int(flag) & 16, int(start), int(start) + target_len(cigar))
        found[name] = (place, next(sam_scores(line))[1], int(mapq))
    return found


def long(swalign, preset, reads, reference):
    """Long reads that minimap2 maps otherwise than swalign.

    Compares the best alignment of each read, both by the scoring of minimap2's PRESET (map-ont, map-pb, map-hifi, asm5),
    one thread each. Prints the reads that differ, with their scores and positions. At the end, counts the reads that
    minimap2 misses, those to which it gives a lower score, and those that it places elsewhere with a lower score, also
    with MAPQ 60. minimap2 cannot have a higher score: then the exit code is 1.
    """
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
