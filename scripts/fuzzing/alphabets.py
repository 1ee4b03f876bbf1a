"""The rule of docs/output.md by which `swalign` tells DNA from proteins."""

import random

BUILT_IN = ("BLOSUM", "PAM")
CODES, PROTEIN_ONLY = set("ACGTUNRYSWKMBDHV"), set("EFIJLOPQXZ*")


def by_letters(text):
    """The alphabet that the first 10,000 letters suggest, and whether they leave no doubt."""
    letters = text.upper()[:10_000]
    bases = [letter for letter in letters if letter in "ACGTU"]
    others = [letter for letter in letters if letter != "N"]
    if PROTEIN_ONLY & set(letters):
        stray = len(letters) >= 20 and 10 * len(bases) >= 9 * len(others)
        return ("dna" if stray else "protein"), True
    if 2 * len(bases) < len(others):
        return "protein", False
    kinds = set(letters.replace("U", "T"))
    few = len(letters) >= 10 and kinds <= set("ACGT") and len(kinds) >= 3
    return "dna", few or len(letters) >= 20


def by_options(words):
    value = lambda flag: words[words.index(flag) + 1] if flag in words else None
    protein = value("--preset") == "protein" or (value("--matrix") or "").upper().startswith(BUILT_IN)
    dna = value("--preset") not in (None, "protein") or {"--match", "--mismatch", "--ambiguous", "--iupac"} & set(words)
    dna = bool(dna) or "--both-strands" in words
    return None if dna == protein else "dna" if dna else "protein"


def told(words, targets, first_query, fastq):
    """The alphabet of a run without --alphabet. `fastq` says whether the queries are FASTQ."""
    suggested, certain = by_letters("".join(targets))
    query = ("dna", True) if fastq else by_letters(first_query)
    return suggested if certain else by_options(words) or (query[0] if query[1] else suggested)


def leave_out(seed, words, queries, targets, fastq):
    """The words of a case without --alphabet, of some cases that say what the letters do."""
    at = words.index("--alphabet")
    rest = words[:at] + words[at + 2 :]
    letters = [text for _, text in targets]
    same = words[at + 1] == told(rest, letters, queries[0][1] if queries else "", fastq)
    # A DNA query with a protein reference would be an error.
    mixed = words[at + 1] == "protein" and any(by_letters(text) == ("dna", True) for _, text, *_ in queries)
    return rest if same and not mixed and random.Random(f"{seed} alphabet").random() < 0.5 else words
