#!/usr/bin/env python3
"""A swalign with a fault, for the fuzzer's self-test: runs the true one and changes what it writes.

The environment names the true program (FAULTY_SWALIGN) and the fault (FAULTY_KIND), one of those in the tables.
"""

import os
import re
import subprocess
import sys


def column(at, change):
    """Changes a column of the first record with an alignment for which there is another value."""

    def fault(lines):
        for number, line in enumerate(lines):
            fields = line.split("\t")
            if line[0] == "@" or len(fields) < 11 or fields[1] == "4":
                continue
            fields[at] = change(fields[at])
            if "\t".join(fields) != line:
                return [*lines[:number], "\t".join(fields), *lines[number + 1 :]]
        return lines

    return fault


def tag(name, change):
    """Changes a tag of the first record that has it."""

    def fault(lines):
        text, found = "\n".join(lines), re.search(rf"\t{name}:[iZ]:([^\t\n]+)", "\n".join(lines))
        return (text[: found.start(1)] + change(found[1]) + text[found.end(1) :]).split("\n") if found else lines

    return fault


def records(change):
    def fault(lines):
        header = [line for line in lines if line[0] == "@" and line[3:4] == "\t"]
        return header + change(lines[len(header) :])

    return fault


def another_target(lines):
    """A tie between equal targets that the wrong one has: the name of the last target of the same length."""
    lengths = {fields[1][3:]: fields[2] for fields in (line.split("\t") for line in lines) if fields[0] == "@SQ"}
    last = lambda old: [name for name, len in lengths.items() if len == lengths[old]][-1]
    return column(2, last)(lines)


def gap_moved(cigar):
    """The first gap a letter to the right, where a path with the same letters may have the same score."""
    place = lambda found: f"{int(found[1]) + 1}M{found[2]}{int(found[3]) - 1}M"
    return re.sub(r"(\d+)M(\d+[ID])([2-9]|\d\d+)M", place, cigar, count=1)


add = lambda n: lambda text: str(int(text) + n)
FAULTS = {
    "tie": another_target,
    "flag": column(1, lambda flag: str(int(flag) ^ 16)),
    "position": column(3, add(1)),
    "quality": column(4, lambda quality: str(int(quality) + 1) if 0 < int(quality) < 60 else quality),
    "cigar": column(5, gap_moved),
    "clip": column(5, lambda cigar: re.sub(r"^(\d+)S", r"\1H", cigar)),
    "sequence": column(9, lambda letters: letters[:-1] + ("A" if letters[-1] != "A" else "C")),
    "qualities": column(10, lambda values: values[::-1]),
    "NM": tag("NM", add(1)),
    "MD": tag("MD", lambda md: "0" + md),
    "cs": tag("cs", lambda cs: cs + ":1"),
    "AS": tag("AS", add(-1)),
    "XS": tag("XS", add(-1)),
    "PNEXT": column(7, add(1)),
    "TLEN": column(8, add(1)),
    "MC": tag("MC", lambda cigar: re.sub(r"^(\d+)S", r"\1H", cigar)),
    "MQ": tag("MQ", add(1)),
    "ms": tag("ms", add(1)),
    "SA": tag("SA", lambda others: others.replace(",+,", ",-,", 1)),
    "dropped": records(lambda lines: lines[:-1]),
    "doubled": records(lambda lines: lines + lines[-1:]),
    "order": records(lambda lines: lines[::-1]),
    "header": lambda lines: [line for line in lines if not line.startswith("@CO")],
    "reference length": lambda lines: [re.sub(r"(^@SQ.*LN:)", r"\g<1>1", line) for line in lines],
}
# Faults to find with cases of mates.
OF_MATES = ["PNEXT", "TLEN", "MC", "MQ", "ms"]


def in_json(key, change):
    """Changes a value of the first hit for which there is another one."""

    def fault(lines):
        text = "\n".join(lines)
        for found in re.finditer(rf'"{key}": ("[^"]*"|[^,}}]+)', text):
            if change(found[1]) != found[1]:
                return (text[: found.start(1)] + change(found[1]) + text[found.end(1) :]).split("\n")
        return lines

    return fault


def field(change, first=0):
    """Changes the last column of a line of a table, the first one for which there is another value."""

    def fault(lines):
        for number, line in enumerate(lines[first:], first):
            head, tab, last = line.rpartition("\t")
            if tab and line[0] != "#" and change(last) != last:
                return [*lines[:number], head + tab + change(last), *lines[number + 1 :]]
        return lines

    return fault


def swapped(lines):
    """The first two hits of a query the other way round."""
    return [re.sub(r'"hits": \[(\{[^{}]*\}), (\{[^{}]*\})', r'"hits": [\2, \1', line) for line in lines]


def last_hit_lost(lines):
    return [re.sub(r', \{[^{}]*\}\]\}$', "]}", line) for line in lines]


def digit(text):
    """The last digit of a number, or the last letter, another one."""
    other = {"9": "8", "-": "A"}.get(text[-1:], chr(ord(text[-1]) + 1) if text else "1")
    return text[:-1] + other


# Faults of other kinds of cases: the kind, words that the command must contain, and the change.
OF_KINDS = {
    "mode place": ("modes", ["sam"], column(3, add(1))),
    "mode path": ("modes", ["sam"], column(5, gap_moved)),
    "mode tie": ("modes", ["sam"], another_target),
    "mode score": ("modes", ["sam"], tag("AS", add(-1))),
    "mode deletions": ("modes", ["paf"], column(7, add(1))),
    "list start": ("lists", ["json"], in_json("query_start", add(1))),
    "list target": ("lists", ["json"], in_json("target_end", add(-1))),
    "list identity": ("lists", ["json"], in_json("identity", lambda share: str(float(share) / 2))),
    "list matches": ("lists", ["json"], in_json("matches", add(1))),
    "list positives": ("lists", ["json"], in_json("positives", add(1))),
    "list gaps": ("lists", ["json"], in_json("gap_openings", add(1))),
    "list strand": ("lists", ["json"], in_json("strand", lambda _: '"-"')),
    "list letters": ("lists", ["json"], in_json("target_aligned", lambda text: text.replace("G", "C", 1))),
    "list bits": ("lists", ["json"], in_json("bits", lambda bits: bits if bits == "null" else str(float(bits) + 1))),
    "list order": ("lists", ["json"], swapped),
    "list end": ("lists", ["json"], last_hit_lost),
    "table": ("lists", ["tab"], field(digit)),
    "text": ("lists", ["text"], lambda lines: [re.sub(r"^(Target +)(\d+)", r"\g<1>1\2", line) for line in lines]),
    "triangle": ("all", ["json"], last_hit_lost),
    "matrix": ("all", ["matrix"], field(digit, 1)),
    "lane group": ("lanes", ["sam"], tag("RG", digit)),
    "lane order": ("lanes", ["paf"], lambda lines: lines[::-1]),
    "tier": ("tiers", ["sam"], tag("ya", add(1))),
    "audit verdict": ("audit", ["x.sam"], lambda lines: [line.replace("\tbelow\t", "\tequal\t") for line in lines]),
    "audit score": ("audit", ["x.sam"], lambda lines: [re.sub(r"^((?:\S+\t){7}\d)", r"\g<1>0", line) for line in lines]),
    "set size": ("dedup", ["--size-out"], lambda lines: [re.sub(r"(;size=\d+)$", r"\g<1>0", line) for line in lines]),
    "set order": ("dedup", [], lambda lines: lines[4:] + lines[:4]),
    "set strand": ("dedup", ["--both-strands"], None),
    "set packed": ("dedup", ["-o"], None),
}
# Faults that occur only with these words. Runs without them are right.
ONLY = {
    "threads": ["-t", "4"],
    "device": ["--device", "plain"],
    "filter": ["--filter", "none"],
    "batch": ["--batch", "1"],
    "no-dedup": ["--no-dedup"],
    "PAF": ["--format", "paf"],
    "search": ["search"],
    "columns": ["--columns"],
    "amplicons": ["--amplicons"],
    "grep": ["grep"],
    "words": ["grep", "-F"],
}
# Faults of a program that misreads the value of an option: the kind of cases, the option, and the change of the value.
VALUES = {
    "never cut": ("cuts", "--z-drop", lambda drop: "0"),
    "cut late": ("cuts", "--z-drop", lambda drop: drop if drop == "0" else str(min(1_000_000, int(drop) + 1))),
    "short runs": ("tiers", "--anchor", lambda k: str(int(k) - 1) if int(k) > 10 else k),
    "no runs": ("tiers", "--anchor", lambda k: "0"),
    "pairs in order": ("mates", "--tie-break", lambda rule: "first"),
}
# Faults to find with a kind of cases other than alignments.
KIND_OF = {"columns": "search", "amplicons": "search", "search": "search", "grep": "grep", "words": "grep"}
KIND_OF |= dict.fromkeys(OF_MATES, "mates")
# Faults that `main` and `changed` treat separately.
WHOLE = ["BAM", "sort", "crash", "refusal", "merge", "database"]


def has(words, part):
    return any(words[at : at + len(part)] == part for at in range(len(words)))


def changed(kind, words, output):
    if kind in ("BAM", "sort"):
        # Changes a flag bit in the compressed data, so the checksum of its block is wrong.
        is_there = has(words, ["bam"] if kind == "BAM" else ["--sort"])
        return output[:20] + bytes([output[20] ^ 1]) + output[21:] if is_there else output
    if kind in OF_KINDS:
        _, among, fault = OF_KINDS[kind]
        if not fault or not all(word in words for word in among):
            return output
        lines = output.decode().splitlines()
        return "".join(f"{line}\n" for line in fault(lines)).encode() if lines else output
    if kind in ONLY or kind == "database" and os.path.exists("references.fa"):
        among = ONLY.get(kind, [])
        lines = output.splitlines(keepends=True)
        return b"".join(lines[:-1]) if has(words, among) else output
    if words[0] in ("search", "grep") or "--format" not in words or "sam" not in words or kind not in FAULTS:
        return output
    lines = output.decode().splitlines()
    return "".join(f"{line}\n" for line in FAULTS[kind](lines)).encode() if lines else output


def main(words):
    kind = os.environ["FAULTY_KIND"]
    if kind in VALUES and VALUES[kind][1] in words:
        _, option, change = VALUES[kind]
        at = words.index(option) + 1
        words = [*words[:at], change(words[at]), *words[at + 1 :]]
    done = subprocess.run([os.environ["FAULTY_SWALIGN"], *words], capture_output=True)
    if kind == "crash" and has(words, ["--eqx"]):
        os.abort()
    if kind == "refusal" and has(words, ["pairs"]):
        sys.stderr.write("error: no pairs\n")
        return 1
    if kind == "merge" and words[0] == "merge" and done.returncode == 0:
        with open(words[2], "r+b") as file:
            file.truncate(os.path.getsize(words[2]) - 1)
    if kind == "set strand" and "--table" in words and done.returncode == 0:
        with open("sets.tsv", "r+") as file:
            text = file.read().replace("\t-\t", "\t+\t")
            file.seek(0)
            file.write(text)
    if kind == "set packed" and "out.gz" in words and done.returncode == 0:
        with open("out.gz", "r+b") as file:
            file.truncate(os.path.getsize("out.gz") - 1)
    output = done.stdout if "--help" in words else changed(kind, words, done.stdout)
    sys.stdout.buffer.write(output)
    sys.stderr.buffer.write(done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
