"""Hooks of mkdocs (mkdocs.yml): adds the pages of the repository outside docs/, and translates links to them.

Links in the pages are relative to the repository, as GitHub shows them. A link to a file that is not part of the site becomes
plain text. A link to a file that does not exist stays as it is, and `mkdocs build --strict` refuses it.
"""
import os
import pathlib
import posixpath
import re
import shutil

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Pages outside docs/: path in the repository, path in the site.
PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "data/README.md": "data.md",
    "python/README.md": "python.md",
    "web/package/README.md": "web.md",
    "workflow/README.md": "workflow.md",
}
# The reference of the Python package, which mkdocstrings makes from the stubs (mkdocs.yml).
STUBS = ("python/pyswalign/_native.pyi", "python-api.md")
REFERENCE = {
    "Aligning": ["align", "align_pairs", "Aligner", "Database"],
    "Searching": ["Searcher"],
    "Scoring schemes": ["Scoring", "from_biopython", "from_parasail"],
    "Results": ["Hit", "HitIterator", "PairIterator", "Match", "MatchIterator", "Amplicon"],
    "Exceptions": ["InputError", "DeviceError"],
    "Types of parameters": [f"_native.{name}" for name in ("Sequence", "Sequences", "Letters", "Alphabet", "Mode", "Preset")],
}
# A link to the README leads to the home page.
LINKS = PAGES | {"README.md": "index.md", STUBS[0]: STUBS[1]}
# Generated text that would fill the results of each search.
NOT_SEARCHED = {"kernels.md"}
ITEM = re.compile(r"([-*]|\d+\.) +")
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def indented(lines):
    """Lists as Python-Markdown reads them: four spaces for each level, and an empty line before a list that follows text."""
    levels, fence, text_before, gap = [], False, False, False
    for line in lines:
        stripped = line.lstrip()
        indent = len(line) - len(stripped)
        if fence or not stripped:
            inside = levels[-1] if levels else 0
            yield "    " * len(levels) + line[inside:] if stripped else ""
            fence ^= stripped.startswith("```")
            gap = not fence
            continue
        item = ITEM.match(stripped)
        if gap or item or not text_before:
            while levels and indent < levels[-1]:
                levels.pop()
        inside = levels[-1] if levels else 0
        if item and text_before and not gap:
            yield ""
        yield "    " * len(levels) + " " * max(indent - inside, 0) + stripped
        if item:
            levels.append(indent + len(item.group()))
        # The lines of an item itself are tight. A paragraph needs an empty line before the next item.
        text_before = not item and (text_before or gap or not levels)
        fence = stripped.startswith("```")
        gap = False


def on_files(files, config):
    for source, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    files.append(File.generated(config, STUBS[1], content=reference()))
    return files


def on_post_build(config):
    """Adds the web page of scripts/web.sh, if it was built."""
    page = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "web" / "page"
    if page.is_dir():
        shutil.copytree(page, pathlib.Path(config["site_dir"]) / "try", dirs_exist_ok=True)


def reference():
    """The page of the Python package's reference."""
    page = "# Python reference\n\nEvery class and function of `pyswalign`. The [overview](python.md) has examples for each kind of work.\n"
    for title, names in REFERENCE.items():
        page += f"\n## {title}\n\n" + "\n".join(f"::: pyswalign.{name}\n" for name in names)
    return page


def site_path(path):
    """Path in the site of a file of the repository, or None if it is not part of the site."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return LINKS.get(path)


def translated(link, page):
    """A link of a page, relative to the page's place in the site; its text if the site lacks the file."""
    image, text, target = link.groups()
    file, _, anchor = target.partition("#")
    if not file or "://" in file or file.startswith("mailto:"):
        return link.group()
    sources = {site: source for source, site in PAGES.items()}
    source = sources.get(page, f"docs/{page}")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), file))
    if not (ROOT / path).exists():
        return link.group()
    site = site_path(path)
    if site is None:
        return text
    relative = posixpath.relpath(site, posixpath.dirname(page) or ".")
    return f"{image}[{text}]({relative}{'#' if anchor else ''}{anchor})"


def on_page_markdown(markdown, page, config, files):
    if page.file.src_uri in NOT_SEARCHED:
        page.meta["search"] = {"exclude": True}
    lines, fence = [], False
    for line in markdown.split("\n"):
        fence ^= line.lstrip().startswith("```")
        lines.append(line if fence else LINK.sub(lambda link: translated(link, page.file.src_uri), line))
    return "\n".join(indented(lines))
