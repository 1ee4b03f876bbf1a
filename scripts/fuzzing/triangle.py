"""Cases of `swalign all`: lists of each sequence against those behind it, and matrices."""

import ast
import random
import struct

from . import lists, modes, reference
from .cases import Case, decorated, fasta, packed
from .list_checks import check as check_lists
from .list_checks import without
from .program import Difference, compare_bytes, compare_lines, way
from .reference import NEVER

MOST_SEQUENCES, MOST_CELLS = 14, 30_000


def make(seed, small=False):
    """The case of a seed: a list, or a matrix of scores or identities."""
    rng = random.Random(seed)
    mode, is_matrix = rng.choice(["local", "local", *modes.MODES]), rng.random() < 0.5
    made = modes.inputs(rng, mode)
    texts = [text for text in made["targets"] + made["queries"] if text]
    rng.shuffle(texts)
    texts = [text[: rng.choice([30, 100, 100])] for text in texts[: rng.randint(1, MOST_SEQUENCES)]]
    while sum(map(len, texts)) ** 2 > MOST_CELLS:
        texts.pop()
    texts = [decorated(rng, text, made["protein"]) for text in texts]
    records = [(f"s{at}", text) for at, text in enumerate(texts)]
    strands = "+" if made["protein"] or rng.random() < 0.3 else rng.choice(["+-", "+-", "+-", "-"])
    asked = ("--forward-only", "--both-strands", "--strand", "minus")
    words = [word for word in made["words"] if word not in asked]
    words = ["all", *words, *["--forward-only"] * (strands == "+" and not made["protein"])]
    words += ["--strand", "minus"] * (strands == "-")
    if is_matrix:
        rules = {"iddef": rng.choice([None, 0, 1, 2, 3, 4]), "values": rng.choice(["score", "identity"]), "mode": mode}
        # --iddef has no effect on a matrix of scores.
        rules["iddef"] = rules["iddef"] if rules["values"] == "identity" else None
        words += ["--values", "identity"] * (rules["values"] == "identity")
        words += [] if rules["iddef"] is None else ["--iddef", str(rules["iddef"])]
        rules["iddef"] = 2 if rules["iddef"] is None else rules["iddef"]
    else:
        rules, further = lists.make_rules(rng, mode, made["scoring"], is_triangle=True)
        words += further
    rules |= {"strands": strands, "protein": made["protein"], "matrix": is_matrix}
    data, ending = packed(rng, fasta(rng, records))
    name = f"t.fa{ending}"
    known = {"scoring": made["scoring"], "rules": rules, "paired": False}
    return Case([*words, name], records, records, made["files"] | {name: data}, known)


def check(program, rng, case):
    (check_matrix if case.reference["rules"]["matrix"] else check_list)(program, rng, case)


def check_list(program, rng, case):
    titles = lists.titles(case.files[case.words[-1]])
    every = [(*record, title) for record, title in zip(case.targets, titles)]
    of_queries = []
    for at, record in enumerate(case.targets):
        behind = {other: every[other] for other in range(at + 1, len(every))}
        of_queries.append((record, lists.listed(record, behind, case.reference["scoring"], case.reference["rules"])))
    check_lists(program, rng, case, of_queries)
    if case.reference["rules"]["mode"] == "local":
        check_turned(program, case)


def check_turned(program, case):
    """The E-value of a pair does not depend on which of the two comes first."""
    (program.folder / "turned.fa").write_text("".join(f">{name}\n{text}\n" for name, text in case.targets[::-1]))
    alphabet = [] if "--alphabet" in case.words else ["--alphabet", "protein" if case.reference["rules"]["protein"] else "dna"]
    shared = without(case.words[:-1], ["--min-identity", "--min-coverage"], [])
    shared += [*alphabet, "--columns", "qseqid,sseqid,score,evalue"]
    known = {}
    for name in (case.words[-1], "turned.fa"):
        for line in program.run([*shared, name]).decode().splitlines():
            one, other, score, evalue = line.split("\t")
            both = (frozenset([one, other]), score)
            if known.setdefault(both, evalue) != evalue:
                raise Difference([*shared, name], f"{one} and {other}: E-values {known[both]} and {evalue}")


def cell(one, other, scoring, rules):
    """What a matrix has of two sequences: the score, or the identity in percent."""
    find = modes.finder(rules["mode"]) if rules["mode"] != "local" else reference.hits
    found = find(one[1], [(0, other[1])], scoring, rules["strands"], NEVER, lambda _: NEVER, 1)
    if not found:
        return 0
    if rules["values"] == "score":
        return found[0]["score"]
    return lists.Hit(one, (*other, ""), scoring, found[0], rules["mode"]).identity(rules["iddef"])


def check_matrix(program, rng, case):
    rules, records = case.reference["rules"], case.targets
    cells = [[0] * len(records) for _ in records]
    for i, one in enumerate(records):
        for j, other in enumerate(records[i:], i):
            cells[i][j] = cells[j][i] = cell(one, other, case.reference["scoring"], rules)
    is_score = rules["values"] == "score"
    shown = str if is_score else lambda share: lists.shown(share, 3)
    names = [name for name, _ in records]
    lines = ["\t".join(["", *names])] + ["\t".join([name, *map(shown, row)]) for name, row in zip(names, cells)]
    case.reference["expected"] = "".join(f"{line}\n" for line in lines)
    words = [*case.words, "--format", "matrix"]
    plain = program.run(words)
    compare_lines(words, lines, plain.decode().splitlines())
    words = [*words, *way(rng, program, words, True, False)]
    compare_bytes(words, plain, program.run(words))
    if rng.random() < 0.4:
        words = [*case.words, "-o", "matrix.npy"]
        program.run(words)
        found = read_array(words, (program.folder / "matrix.npy").read_bytes(), is_score, len(records))
        text = lambda values: [shown(value) for value in values]
        compare_lines(words, text(value for row in cells for value in row), text(found))


def read_array(words, data, is_score, size):
    """The values of a NumPy array of format 1.0."""
    head, values = data[:10], struct.unpack("<H", data[8:10])[0] if len(data) > 10 else 0
    header = data[10 : 10 + values].decode(errors="replace")
    expected = {"descr": "<i4" if is_score else "<f8", "fortran_order": False, "shape": (size, size)}
    if head[:8] != b"\x93NUMPY\x01\x00" or (10 + values) % 64 or ast.literal_eval(header) != expected:
        raise Difference(words, f"the array's header is {data[: 10 + values]}")
    body = data[10 + values :]
    if len(body) != size * size * (4 if is_score else 8):
        raise Difference(words, f"the array has {len(body)} bytes")
    return list(struct.unpack(f"<{size * size}{'i' if is_score else 'd'}", body))
