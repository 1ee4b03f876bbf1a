#!/usr/bin/env python3
"""Cuts tre_lines.tsv out of TRE's cases: make_tre.py tre_approx.tsv > tre_lines.tsv

A case stays if lines that match by our rule are all that it is about:
- (LETTERS){~N} and (LETTERS){~}, as -k N and as -k with all letters: exact, both answers;
- the case whose equation forbids insertions and deletions, as --no-indels: exact, its answer is no;
- a match under anchors or under limits of kinds beside ~N is one without them: only those that match.
Left out: non-matches of the latter kind, word borders, groups of which only one has errors where nothing
matches, and equations of costs without ~N.
"""
import re
import sys

print("letters", "edits", "indels", "line", "answer", sep="\t")
for row in open(sys.argv[1]).read().splitlines()[1:]:
    regex, text, result, *_ = row.split("\t")
    match = "match" if result == "REG_OK" else "none"
    if whole := re.fullmatch(r"\((\w+)\)\{~(\d*)\}", regex):
        letters, edits = whole.groups()
        print(letters, edits or len(letters), "yes", text, match, sep="\t")
    elif whole := re.fullmatch(r"\((\w+)\)\{ #(\d) ~3 1i \+ 1d < 1 \}", regex):
        print(*whole.groups(), "no", text, match, sep="\t")
    elif match == "match" and (whole := re.fullmatch(r"\^?(\w*)\((\w+)\)\{[-+# 0-9]*~(\d+)[^}]*\}(\w*)\$?", regex)):
        before, letters, edits, after = whole.groups()
        print(before + letters + after, edits, "yes", text, match, sep="\t")
