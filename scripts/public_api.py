#!/usr/bin/env python3
"""The library's public items, as rustdoc sees them, against docs/public-api.txt.

Without arguments it fails where the two differ and shows how; with --write it makes the file anew. A line that goes or
changes is a breaking change, and a new line is a promise to keep."""

import difflib
import html
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "docs/public-api.txt"
# Traits that the compiler implements for all types automatically.
NOISE = r"[ !](Freeze|Unpin|UnsafeUnpin|UnwindSafe|RefUnwindSafe|StructuralPartialEq) for "


def text(fragment):
    """What a reader sees of a piece of a page, on one line."""
    fragment = re.sub(r'<a class="src[^>]*>.*?</a>', "", fragment, flags=re.S)
    fragment = re.sub(r'<(a href="#[^"]*" class="(anchor|doc-anchor|tooltip))[^>]*>.*?</a>', "", fragment, flags=re.S)
    fragment = re.sub(r"<summary.*?</summary>", "", fragment, flags=re.S)
    plain = html.unescape(re.sub(r"<[^>]+>", "", fragment)).replace("ⓘ", "")
    plain = re.sub(r"\s+", " ", plain).strip()
    return plain.replace("( ", "(").replace(", )", ")").replace("]pub", "] pub").replace(">where", "> where")


def part(page, name):
    """A list of implementations, by its id."""
    begin = page.find(f'id="{name}"')
    end = page.find("<h2 ", begin)
    return page[begin : end if end >= 0 else len(page)] if begin >= 0 else ""


def headers(fragment):
    return [text(header) for header in re.findall(r'<h[34] class="code-header">(.*?)</h[34]>', fragment, re.S)]


def items(pages):
    lines = []
    for path in sorted(re.findall(r'<li><a href="([^"]+\.html)">', (pages / "all.html").read_text())):
        page = (pages / path).read_text()
        name = path.removesuffix(".html").split(".", 1)[1]
        declaration = re.search(r'<pre class="rust item-decl"><code>(.*?)</code></pre>', page, re.S)
        lines.append(f"{text(declaration.group(1))}")
        own = [header for header in headers(part(page, "implementations-list")) if header.startswith("pub ")]
        lines += [f"{name}: {header}" for header in own]
        traits = headers(part(page, "trait-implementations-list"))
        traits += headers(part(page, "synthetic-implementations-list"))
        traits = [header for header in traits if header.startswith("impl")]
        lines += sorted(f"{name}: {header}" for header in traits if not re.search(NOISE, header))
    return lines


def main():
    pages = ROOT / "target/doc/swalign"
    shutil.rmtree(pages, ignore_errors=True)
    subprocess.run(["cargo", "doc", "--locked", "--quiet", "--no-deps", "--lib"], cwd=ROOT, check=True)
    now = items(pages)
    if sys.argv[1:] == ["--write"]:
        LIST.write_text("\n".join(now) + "\n")
        return
    known = LIST.read_text().splitlines()
    changes = list(difflib.unified_diff(known, now, str(LIST.relative_to(ROOT)), "the code", lineterm="", n=0))
    if changes:
        print("\n".join(changes))
        sys.exit("the library's public items changed; if that is meant: scripts/public_api.py --write, and CHANGELOG.md")


if __name__ == "__main__":
    main()
