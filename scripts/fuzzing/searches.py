"""Makes cases of `swalign search` and `swalign grep`, with the lines that they must write."""

import random

from . import sellers, views
from .cases import SEAMS, Case, decorated, fasta, letters, mutated, packed, piece
from .reference import reverse_complement

CELLS = 30_000
CLASSES = [(".", "."), ("[a-f]", "[a-f]"), ("[^xyz]", "[^xyz]"), (r"\d", "[0-9]"), (r"\.", r"\."), ("-", "-")]


def make_search(seed):
    """The case of a seed for `swalign search`."""
    rng = random.Random(seed)
    alphabet = list("ACGT")
    lengths = [n for n in SEAMS if n < 140]
    limited = rng.random() < 0.25
    lengths, size = ([n for n in lengths if n < 20], 33) if limited else (lengths, rng.choice([*SEAMS, 600, 3000]))
    texts = [letters(rng, alphabet, rng.randint(1, size)) for _ in range(rng.randint(1, 5))]
    if rng.random() < 0.25:
        # Tandem repeats have many local minima.
        texts = [mutated(rng, alphabet, (text[:5] * len(text))[: len(text)], 0.05) or "A" for text in texts]
    texts = [decorated(rng, text, False) for text in texts]
    pool, patterns, cells = [text.upper() for text in texts], [], 0
    while not patterns or (cells < CELLS and len(patterns) < 12):
        near = mutated(rng, alphabet, piece(rng, pool, rng.choice(lengths)), rng.choice([0, 0.05, 0.2])) or "A"
        patterns.append(decorated(rng, reverse_complement(near) if rng.random() < 0.4 else near, False))
        cells += 2 * len(patterns[-1]) * sum(map(len, texts))
    k = rng.choice([0, 0, 1, 1, 2, 3, 5, 12, rng.randint(0, len(patterns[0]))])
    rules = {"indels": rng.random() < 0.75, "strands": rng.choice(["+-", "+-", "+"])}
    rules |= {name: rng.random() < 0.25 for name in ("all", "best", "first")}
    words = ["search", "-k", str(k)] + ["--no-indels"] * (not rules["indels"])
    words += ["--revcomp", "no"] * (rules["strands"] == "+")
    words += [f"--{name}" for name in ("all", "best", "first") if rules[name]]
    if limited:
        k = min(k, 4)
        words[2] = str(k)
        limits = {kind: rng.randint(0, k) for kind in "IDXG" if rng.random() < 0.6} if rules["indels"] else {}
        names = {"I": "--max-insertions", "D": "--max-deletions", "X": "--max-substitutions", "G": "--max-gaps"}
        words += [word for kind, n in limits.items() for word in (names[kind], str(n))]
        rules["limits"] = {**dict.fromkeys("IDXG", k), **limits} if limits else None
    if not limited and rng.random() < 0.15:
        millionths = rng.choice([0, 50_000, 100_000, 290_000, rng.randint(0, 400_000)])
        rate = ["--edits-by-rate", f"{millionths / 1e6:.6f}"], ["-k", f"{millionths / 1e4:.4f}%"]
        words[1:3] = rng.choice(rate)
        rules["rate"] = millionths, 1_000_000
    if rng.random() < 0.4:
        pam = rng.choice(["N", "A", "ng", "NGG", "TTTV", "RY", piece(rng, pool, rng.choice([1, 2, 3]))]) or "N"
        rules |= {"pam": decorated(rng, pam, False), "side": rng.choice("53")}
        words += ["--pam", rules["pam"], "--pam-side", rules["side"]]
    texts = [(f"t{at}", text) for at, text in enumerate(texts)]
    if rng.random() < 0.2 and max(len(text) for _, text in texts) < 700:
        rules["circular"] = rng.choice([[name for name, _ in texts], [texts[0][0]]])
        words += ["--circular", "all" if len(rules["circular"]) == len(texts) else texts[0][0]]
    text, zip = packed(rng, fasta(rng, texts))
    files = {f"t.fa{zip}": text}
    if len(patterns) == 1 and rng.random() < 0.7:
        words += [patterns[0], *files]
        patterns = [("pattern", patterns[0])]
    else:
        patterns = [(f"p{at}", pattern) for at, pattern in enumerate(patterns)]
        files["p.fa"] = fasta(rng, patterns)
        words += ["-f", "p.fa", f"t.fa{zip}"]
    return Case(words, patterns, texts, files, {"rules": {**rules, "k": k}})


def expected_search(case):
    return sellers.search(case.queries, case.targets, **case.reference["rules"])


def most_edits(case):
    """Edits of the longest pattern."""
    rules = case.reference["rules"]
    longest = max(len(pattern) for _, pattern in case.queries)
    return longest * rules["rate"][0] // rules["rate"][1] if "rate" in rules else rules["k"]


def other_outputs(rng, case, lines):
    """(words, files that they need, file of the output or None for stdout, its lines) of other options, from the lines of
    --format tab."""
    rows, rules = [line.split("\t") for line in lines[1:]], case.reference["rules"]
    found = [row[0] for row in rows]
    patterns, texts = case.queries, case.targets
    hits = [views.Hit(row, dict(patterns), dict(texts)) for row in rows]
    words, table = views.table(rng, hits, "pam" in rules)
    yield words, {}, None, table
    yield ["--format", "bed"], {}, None, ["\t".join([*row[:4], row[5], row[4], *row[8:]]) for row in rows]
    yield ["--format", "count"], {}, None, ["text\thits", *(f"{name}\t{found.count(name)}" for name, _ in texts)]
    if most_edits(case) <= views.MOST_COUNTED:
        yield ["--summary", "summary.tsv"], {}, "summary.tsv", views.summary(hits, patterns, texts, most_edits(case))
    if not {"--best", "--first"} & set(case.words):
        if rules["strands"] == "+-" and "circular" not in rules:
            # Several kinds of amplicons.
            for _ in range(4):
                words, files, amplicons = views.amplicons(rng, hits, patterns, texts)
                yield words, files, None, amplicons
        if "--all" not in case.words:
            yield ["-v"], {}, None, ["text", *(name for name, _ in texts if name not in found)]


def make_grep(seed):
    """The case of a seed for `swalign grep`: a pattern is its places as (as swalign has them, as Python has them)."""
    rng = random.Random(seed)
    letters = rng.choice(["ab", "abcdefghij", "aAbBxyz.-_0123 ", "ACGT"])
    lengths = [rng.choice([0, 1, 5, 20, 63, 64, 65, 130]) for _ in range(rng.randint(1, 30))]
    lines = ["".join(rng.choices(letters, k=length)) for length in lengths]
    patterns = []
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        plain = mutated(rng, letters, piece(rng, lines, rng.choice([1, 2, 5, 16, 31, 33, 65])), 0.1) or "a"
        places = [(x, x) if x.isalnum() or x == "_" else ("[" + x + "]",) * 2 for x in plain]
        patterns.append([rng.choice(CLASSES) if rng.random() < 0.1 else place for place in places])
    k, indels = rng.choice([0, 1, 1, 2, 3, 6]), rng.random() < 0.75
    ignore_case, invert = rng.random() < 0.3, rng.random() < 0.3
    words = ["grep", "-k", str(k)] + ["--no-indels"] * (not indels) + ["-i"] * ignore_case + ["-v"] * invert
    for pattern in patterns:
        words += ["-e", "".join(place for place, _ in pattern)]
    text = "".join(f"{line}\n" for line in lines)
    text = text[:-1] if lines[-1] and rng.random() < 0.2 else text
    patterns = [[place for _, place in pattern] for pattern in patterns]
    rules = {"k": k, "indels": indels, "ignore_case": ignore_case, "invert": invert}
    return Case([*words, "lines.txt"], patterns, lines, {"lines.txt": text.encode()}, {"rules": rules})


def make_words(seed):
    """The case of a seed for `swalign grep -F`."""
    rng = random.Random(seed)
    letters = rng.choice(["ab", "aA_ ", "abcdefghij .", "ACGT", ".*[\\x"])
    lengths = [rng.choice([0, 1, 2, 5, 16, 17, 40, 130]) for _ in range(rng.randint(1, 30))]
    lines = ["".join(rng.choices(letters, k=length)) for length in lengths]
    words = [piece(rng, lines, rng.choice([1, 1, 2, 3, 8, 15, 16, 17, 33])) for _ in range(rng.choice([1, 2, 5, 40]))]
    words = [mutated(rng, letters, word, rng.choice([0, 0, 0.1])) or letters[0] for word in words]
    words += rng.sample(words, 1) * (rng.random() < 0.2)
    rules = {"ignore_case": rng.random() < 0.3, "where": rng.choice([None, None, "-w", "-x", "--prefix"])}
    rules["output"] = rng.choice([None, "-o", "-n", "-c", "--count-by-pattern"])
    rules["invert"] = rules["output"] in (None, "-n", "-c") and rng.random() < 0.3
    args = ["grep", "-F"] + ["-i"] * rules["ignore_case"] + ["-v"] * rules["invert"]
    args += [word for word in (rules["where"], rules["output"]) if word]
    files = {"lines.txt": "".join(f"{line}\n" for line in lines).encode()}
    if rng.random() < 0.7:
        args += ["-f", "words.txt"]
        files["words.txt"] = "".join(f"{word}\n" for word in words).encode()
    else:
        args += [arg for word in words for arg in ("-e", word)]
    return Case([*args, "lines.txt"], words, lines, files, {"words": rules})


def expected_grep(case):
    if "words" in case.reference:
        return sellers.words_of_lines(case.queries, case.targets, **case.reference["words"])
    return sellers.grep(case.queries, case.targets, **case.reference["rules"])


def grep_code(case, expected):
    """The exit code: 0 where a line is selected."""
    if case.reference.get("words", {}).get("output") in ("-c", "--count-by-pattern"):
        return 0 if any(int(line.split("\t")[0]) for line in expected) else 1
    return 0 if expected else 1
