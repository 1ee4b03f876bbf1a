#!/usr/bin/env python3
"""Copies the doc comments of python/src/*.rs, which are the docstrings of the compiled package, into its stubs.

    scripts/stubs.py            writes python/pyswalign/_native.pyi
    scripts/stubs.py --check    exit code 1 if the stubs lack a docstring, or have another one

Editors show docstrings from the stubs, and the documentation site builds the reference of the package from them.
"""
import ast
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
STUBS = ROOT / "python" / "pyswalign" / "_native.pyi"
DOC = re.compile(r"\s*/// ?(.*)")
# An item under its doc comment: its kind and its name in Rust.
ITEM = re.compile(r"\s*(?:pub )?(struct|enum|fn) (?:r#)?(\w+)")
CLASS = re.compile(r'#\[pyclass\(.*name = "(\w+)"')
METHODS = re.compile(r"impl (\w+) \{")
EXCEPTION = re.compile(r'create_exception!\(\s*pyswalign,\s*(\w+),\s*\w+,\s*"([^"]*)"')


def docstrings():
    """Docstrings by the name in Python, such as `Aligner` and `Aligner.align`."""
    found = {}
    for path in sorted((ROOT / "python" / "src").glob("*.rs")):
        text = path.read_text()
        found.update(EXCEPTION.findall(text))
        lines, attributes, classes, owner, is_methods = [], [], {}, None, False
        for line in text.splitlines():
            if comment := DOC.match(line):
                lines.append(comment[1])
            elif line.strip().startswith("#["):
                attributes.append(line)
                is_methods |= line == "#[pymethods]"
            elif methods := METHODS.match(line):
                owner, is_methods = (classes.get(methods[1]) if is_methods else None), False
                lines, attributes = [], []
            elif item := ITEM.match(line):
                kind, name = item.groups()
                doc, about = "\n".join(lines), "\n".join(attributes)
                if named := CLASS.search(about):
                    classes[name] = named[1]
                    found[named[1]] = doc
                elif kind == "fn" and "#[pyfunction]" in about:
                    found[name] = doc
                elif kind == "fn" and owner and line.startswith("    fn"):
                    found[f"{owner}.{name}"] = doc
                lines, attributes = [], []
            elif line == "}":
                owner = None
            elif not line.startswith("    "):
                lines, attributes = [], []
    return {name: doc for name, doc in found.items() if doc}


def begin(node):
    """The first line of an item, with its decorators."""
    return min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])


def with_docstrings(text, docs):
    """The stubs with these docstrings."""
    lines = text.splitlines()
    nodes = []
    for node in ast.parse(text).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            nodes.append((node.name, node))
        if isinstance(node, ast.ClassDef):
            nodes += [(f"{node.name}.{item.name}", item) for item in node.body if isinstance(item, ast.FunctionDef)]
    # From the end, so that the line numbers of earlier items stay valid.
    for name, node in sorted(nodes, key=lambda pair: begin(pair[1].body[0]), reverse=True):
        if name not in docs:
            continue
        first, indent = node.body[0], " " * (node.col_offset + 4)
        quotes = "'''" if '"' in docs[name][::len(docs[name]) - 1] else '"""'
        body = textwrap.indent(docs[name], indent).lstrip()
        doc = ("r" * ("\\" in body) + quotes + body + f"\n{indent}" * ("\n" in body) + quotes).splitlines()
        doc[0] = indent + doc[0]
        at, end, head = begin(first) - 1, begin(first) - 1, []
        if isinstance(first, ast.Expr):
            # `...`, after the colon, or an earlier docstring.
            head, end = [lines[at][:first.col_offset].rstrip()], first.end_lineno
        after = [""] * (lines[end:end + 1] not in ([], [""]))
        lines[at:end] = [line for line in head if line] + doc + after
    return "\n".join(lines) + "\n"


def main():
    docs, text = docstrings(), STUBS.read_text()
    made = with_docstrings(text, docs)
    if "--check" in sys.argv[1:]:
        if made != text:
            sys.exit(f"{STUBS.relative_to(ROOT)} is out of date: run scripts/stubs.py")
    else:
        STUBS.write_text(made)


if __name__ == "__main__":
    main()
