#!/usr/bin/env python3
"""Finds wording in the documentation that makes a reader stop: clauses without a subject, "where ... else", bare "so many".

    scripts/prose.py              checks the pages against their limits (LIMITS); exit code 1 above a limit
    scripts/prose.py PATH...      prints FILE:LINE: RULE: the sentence; for Markdown, and comments of Rust, WGSL, Python and shell
    scripts/prose.py --count PATH...    prints the number of sentences by rule and by folder

A flagged sentence is a sentence to look at, not an error. A page above its limit needs rewriting. Code, links and text inside
backticks are not read. A sentence ends at . ; : ! ? or at the border of a table cell.
"""
import collections
import os
import re
import subprocess
import sys

RULES = [(name, re.compile(pattern, re.I)) for name, pattern in [
    ("bare 'so many/so much': name the number", r"\b(so|that) (many|much|few|often)\b(?! (that|as)\b)"),
    ("'as many as ... as': say the factor or the limit", r"\b(times )?as (many|much|long|far|often)\b.{0,40}\bas (many|much|long|far)\b"),
    ("'most/least' for maximum/minimum", r"^(Most|Least) (?!of the\b|of all\b)[a-z]+( [a-z]+)? (of|that|a|an|for|in|at)\b"),
    ("'at most, at least' after the number", r"\b(bytes|letters|cells|rows|columns|times|hits|pairs|windows), (at most|at least)\b"),
    ("clause without a subject: 'what ...'", r"^What (is|it|they|has|have|was|can|a|an|the|comes|stands|lies|must|may)\b"),
    ("'of ... the/a' turned around", r"(^|[.;:] )Of [a-z ]{3,40}, (the|a|an|it|they|only|all)\b|(^|[.;:] )Of [a-z]+ (the|a|side|equal|equally|modes|lists|mates)\b"),
    ("'behind/before' for after/in front", r"\bbehind (it|them|that|the|which|each|this|one)\b"),
    ("'stands/lies' for is", r"\b(stands|stand|lies|lie) (in|on|at|there|there|side|as|before|behind|between|beside)\b"),
    ("'one behind the other', 'side by side'", r"one behind the other|side by side|in one go|in vain|at a time|by itself|by themselves"),
    ("'where ... else' as a condition", r"\bwhere (it|they|there|that|this|one|none|nothing|no|not|a|an|the|its|all)\b[^.]{0,60}\b(is|are|has|have|can|do|does|may)\b"),
    ("'a matter of', 'is told', 'is said'", r"\b(matter of|is told|are told|is said|are said|to be said)\b"),
    ("'for ... for', 'the one ... the other'", r"\bthe one\b.{0,30}\bthe other\b"),
    ("threads and data as people", r"\b(nobody|somebody|whoever|who (needs?|waits?|asks?|wants?|takes?|holds?|computes?|comes?))\b"),
    ("'takes' for uses/needs", r"\btakes (it|them|on|up|back|a turn)\b|\b(is|are) taken (as|on|back|out)\b"),
    ("'letters' for bases/residues", r"\bletters\b"),
    ("'place(s)' for position(s)", r"(?<!one )(?<!in )(?<!take )(?<!takes )(?<!a )\bplaces?\b(?!holder)(?! of )"),
    ("'goes/go' for is stored/moved", r"\b(goes|go) (round|on|into|there|in|with|for)\b"),
    ("'such as these', 'thus', 'therein', 'therefor'", r"\b(therein|thereof|thereby|therefor|wherein|whereof|such ones?|these ones|those ones)\b"),
    ("'but for', 'save for' for except", r"\bbut for\b|\bsave for\b|\bnothing but\b"),
    ("'else' at the end of a sentence", r"\belse[.;,)]"),
    ("'ones' without a noun", r"\b(further|other|longer|shorter|smaller|larger|first|last|next|long|short|few) ones\b"),
]]
CODE = re.compile(r"`[^`]*`|\[[^\]]*\]\([^)]*\)|https?://\S+")
COMMENT = {".rs": re.compile(r"^\s*(///|//!|//)\s?(.*)"), ".wgsl": re.compile(r"^\s*//(?!!)\s?(.*)"), ".py": re.compile(r"^\s*#\s?(.*)"), ".sh": re.compile(r"^\s*#(?!!)\s?(.*)")}
# Percent of sentences that may be flagged, for each group of pages. Later groups exclude the pages of earlier ones.
LIMITS = [
    (5.0, ["docs/algorithm.md"]),
    # The help texts.
    (2.5, ["docs/cli.md"]),
    (2.5, ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "python/README.md", "docs"]),
]
# Generated from the kernels.
NOT_CHECKED = {"docs/kernels.md"}


def paragraphs(path):
    """Yields (line number, text) for each paragraph: comment lines in a row, or lines of Markdown up to an empty one."""
    kind, text, first = os.path.splitext(path)[1], [], 0
    if kind not in COMMENT and kind != ".md":
        return
    fence = False
    for number, line in enumerate(open(path, encoding="utf-8", errors="replace"), 1):
        if kind == ".md":
            if line.lstrip().startswith("```"):
                fence = not fence
            code = fence or line.startswith("    ")
            inner = "" if code or line.lstrip().startswith("```") else line.strip()
            breaks = not inner or inner[0] in "#|-*" or re.match(r"\d+\. ", inner)
        else:
            found = COMMENT[kind].match(line)
            inner = found.groups()[-1].strip() if found else ""
            breaks = not inner or inner[0] in "#|-*"
        if breaks and text:
            yield first, " ".join(text)
            text = []
        if inner:
            if not text:
                first = number
            text.append(inner.lstrip("#-*| "))
    if text:
        yield first, " ".join(text)


def prose(path):
    for number, text in paragraphs(path):
        for sentence in re.split(r"(?<=[.;:!?])\s+|\s\|\s", CODE.sub("x", text)):
            if len(sentence.split()) >= 4:
                yield number, sentence


def tracked(paths):
    """Files of the repository under `paths`."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", *paths], capture_output=True, text=True, check=True)
    return [path for path in listed.stdout.split("\n") if path]


def flagged(path):
    """Number of sentences in a file, and (line number, sentence, names of the rules) of those that break a rule."""
    sentences, found = 0, []
    for number, sentence in prose(path):
        sentences += 1
        broken = [name for name, rule in RULES if rule.search(sentence)]
        if broken:
            found.append((number, sentence, broken))
    return sentences, found


def check():
    """Checks each page against its limit. Returns the exit code."""
    done, code = set(NOT_CHECKED), 0
    for limit, paths in LIMITS:
        for path in tracked(paths):
            if path in done or not path.endswith(".md"):
                continue
            done.add(path)
            sentences, found = flagged(path)
            # A single flagged sentence is allowed on short pages.
            if len(found) > max(1, sentences * limit / 100):
                code = 1
                print(f"{path}: {len(found)} of {sentences} sentences are flagged, more than {limit} %: scripts/prose.py {path}")
    return code


def show(paths, count):
    rules, folders, sentences, hits = collections.Counter(), collections.Counter(), 0, 0
    for path in tracked(paths):
        total, found = flagged(path)
        sentences += total
        hits += len(found)
        folders["/".join(path.split("/")[:2])] += len(found)
        for number, sentence, broken in found:
            rules.update(broken)
            if not count:
                print(f"{path}:{number}: {', '.join(broken)}: {sentence.strip()[:140]}")
    if count:
        for name, times in [*rules.most_common(), *folders.most_common(25)]:
            print(f"{times:6} {name}")
    print(f"{hits} of {sentences} sentences are flagged ({100 * hits / max(sentences, 1):.1f} %)")


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    paths = [argument for argument in sys.argv[1:] if argument != "--count"]
    if not paths:
        sys.exit(check())
    show(paths, "--count" in sys.argv)


if __name__ == "__main__":
    main()
