#!/usr/bin/env python3
"""Copies the docstrings of the compiled Python package into its stubs, python/pyswalign/_native.pyi.

The docstrings are written once, in python/src. Run this with a Python that has the package (scripts/python.sh installs it in
a virtual environment of its own). The tests of the package check that the stubs are up to date."""

from __future__ import annotations

import ast
import inspect
import pathlib
import sys
from typing import Any

STUBS = pathlib.Path(__file__).resolve().parent.parent / "python/pyswalign/_native.pyi"


def documented(tree: ast.Module, module: Any) -> list[tuple[ast.ClassDef | ast.FunctionDef, str]]:
    """The public nodes of the stubs, and the docstring that each has in the compiled package."""
    found: list[tuple[ast.ClassDef | ast.FunctionDef, str]] = []

    def visit(node: ast.stmt, owner: Any) -> None:
        if not isinstance(node, (ast.ClassDef, ast.FunctionDef)) or node.name.startswith("_"):
            return
        value = vars(owner).get(node.name)
        doc = inspect.cleandoc(getattr(value, "__doc__", None) or "") if value is not None else ""
        if isinstance(value, staticmethod):
            doc = inspect.cleandoc(value.__func__.__doc__ or "")
        if doc:
            found.append((node, doc))
        if isinstance(node, ast.ClassDef) and value is not None:
            for child in node.body:
                visit(child, value)

    for node in tree.body:
        visit(node, module)
    return found


def with_docstrings(stubs: str, module: Any) -> str:
    """The stubs with the docstrings of the compiled package."""
    lines = stubs.splitlines()
    changes: list[tuple[int, int, list[str]]] = []
    for node, doc in documented(ast.parse(stubs), module):
        indent = " " * (node.col_offset + 4)
        text = doc.replace("\\", "\\\\")
        body = text.splitlines()
        shown = [f'{indent}"""{body[0]}', *(f"{indent}{line}".rstrip() for line in body[1:])]
        shown[-1] = shown[-1] + '"""' if len(body) == 1 else shown[-1]
        if len(body) > 1:
            shown.append(f'{indent}"""')
        first = node.body[0]
        is_doc = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        if is_doc and isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and first.value.value is not ...:
            changes.append((first.lineno - 1, first.end_lineno or first.lineno, shown))
        elif is_doc:
            # `...` on the line of the header or on one of its own.
            at = first.lineno - 1
            head = lines[at][: first.col_offset].rstrip()
            kept = [head] if head else []
            changes.append((at, at + 1, kept + shown))
        else:
            at = first.lineno - 1
            if isinstance(first, (ast.ClassDef, ast.FunctionDef)) and first.decorator_list:
                at = first.decorator_list[0].lineno - 1
            changes.append((at, at, shown))
    for start, end, shown in sorted(changes, reverse=True, key=lambda change: change[0]):
        lines[start:end] = shown
    return "\n".join(lines) + "\n"


def main() -> None:
    from pyswalign import _native

    text = with_docstrings(STUBS.read_text(), _native)
    ast.parse(text)
    if sys.argv[1:] == ["--write"]:
        STUBS.write_text(text)
    elif text != STUBS.read_text():
        sys.exit("the docstrings of the stubs differ from those of the package: scripts/python_stubs.py --write")


if __name__ == "__main__":
    main()
