"""Which hits of a query the limits let in (--max-targets, --max-hsps, --ties, --min-identity, --min-coverage), in lists and
in records, and words for them."""

import re
from fractions import Fraction


def percent(part, whole):
    return Fraction(100 * part, whole) if whole else Fraction(0)


def let_in(found, rules, key, number):
    """Those of `found`, in the order of their scores, that are let in, in the order of `key`. `number` gives a target's."""
    of_same = lambda hits, one: sum(number(hit) == number(one) for hit in hits)
    found = [hit for at, hit in enumerate(found) if of_same(found[:at], hit) < rules["max_hsps"]]
    chosen, of = [], {}
    for hit in sorted(found, key=key):
        last = [chosen[-1]] if len(chosen) >= rules["max_hits"] else []
        if number(hit) not in of and len(of) >= rules["max_targets"]:
            last.append(list(of.values())[-1][0])
        if last and not (rules["ties"] and all(key(hit) == key(other) for other in last)):
            continue
        chosen.append(hit)
        of.setdefault(number(hit), []).append(hit)
    return chosen


def counts(limits, mode, letters, kinds, hit):
    """Whether a hit in a record counts: its identity, in mode global without gaps at the ends, and what it covers."""
    kinds = "".join(kinds)
    inner = re.sub("^(I+|D+)|(I+|D+)$", "", kinds) if mode == "global" else kinds
    identity = percent(kinds.count("="), len(inner))
    covered = percent(hit["query"][1] - hit["query"][0], len(letters))
    return identity >= limits["min_identity"] and covered >= limits["min_coverage"]


def of_records(rng, words, rules, paired):
    """Limits of records for the reference, which are appended to the words; none in most cases."""
    if rng.random() > 0.3 or rules["ppm"] < 250_000:
        return
    limits = {"max_targets": 1 << 30, "max_hsps": 1 << 30, "ties": rng.random() < 0.4}
    limits |= {"min_identity": Fraction(0), "min_coverage": Fraction(0)}
    choices = {"max-targets": [1, 1, 2, 3], "max-hsps": [1, 1, 2], "min-identity": [33.3, 75, 90, 97.5, 100]}
    choices["min-coverage"] = [33.3, 75, 90, 100]
    if paired:
        # Each query of `swalign pairs` has only one target.
        del choices["max-targets"]
    for name in rng.sample(list(choices), min(rng.choice([1, 1, 2, 4]), len(choices))):
        value = str(rng.choice(choices[name]))
        words += [f"--{name}", value]
        limits[name.replace("-", "_")] = Fraction(value) if "min" in name else int(value)
    words += ["--ties"] * limits["ties"]
    if "--max-targets" in words and "--max-hits" not in words:
        rules["max_hits"] = 1 << 30
    rules["limits"] = limits


def of_parts(rng, words, is_local):
    """Further words of a run whose parts are held against it, where it has no limits."""
    if rng.random() < 0.3 or any(word in words for word in ("--max-targets", "--max-hsps", "--ties")):
        return []
    choices = {"--max-targets": "1123", "--max-hsps": "112"}
    if words[0] == "pairs":
        del choices["--max-targets"]
    if is_local and "--evalue" not in words:
        choices["--evalue"] = ["1e12", "1e3", "10", "1e-2", "1e-6"]
    if not any(word.startswith("--min-i") or word.startswith("--min-c") for word in words):
        choices |= {"--min-identity": ["50", "90", "97.5"], "--min-coverage": ["33.3", "75", "100"]}
    names = rng.sample(list(choices), rng.randint(1, len(choices)))
    return [word for name in names for word in (name, rng.choice(choices[name]))] + ["--ties"] * (rng.random() < 0.4)
