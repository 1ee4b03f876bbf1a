"""The examples in docstrings, README.md and the guide, the notebook, and the names and docstrings of the stubs."""

from __future__ import annotations

import ast
import doctest
import inspect
import json
import os
from pathlib import Path
from typing import Any

import pyswalign
import pytest
from common import ROOT
from pyswalign import _convert, _native

PYTHON = ROOT / "python"
HIDDEN = ("_amplicon", "_hit", "_scoring", "_align_again")
FLAGS = doctest.NORMALIZE_WHITESPACE if os.name == "nt" else 0


def run(name: str, text: str) -> int:
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    said: list[str] = []
    results = runner.run(test, out=said.append)
    assert results.failed == 0, "".join(said)
    return results.attempted


def documented() -> list[tuple[str, Any]]:
    own = [(name, getattr(pyswalign, name)) for name in pyswalign.__all__ if name != "__version__"]
    members = [
        (f"{name}.{member}", getattr(of, member))
        for name, of in own
        if inspect.isclass(of) and of.__module__.startswith("pyswalign")
        for member in vars(of)
        if not member.startswith("_")
    ]
    return own + members


def test_everything_has_a_docstring() -> None:
    without = [name for name, of in documented() if not (of.__doc__ or "").strip() and "Iterator" not in name]
    assert without == []


def test_docstrings() -> None:
    examples = sum(run(name, of.__doc__ or "") for name, of in documented())
    examples += run("pyswalign", pyswalign.__doc__ or "")
    assert examples >= 25


def test_readme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert run("README.md", (PYTHON / "README.md").read_text()) >= 20


def test_guide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert run("python.md", (ROOT / "docs" / "guide" / "python.md").read_text()) >= 8


def test_notebook(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Runs the cells in order, like a kernel, and displays the last value of each cell."""
    [path] = (PYTHON / "examples").glob("*.ipynb")
    monkeypatch.chdir(path.parent)
    names: dict[str, Any] = {}
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] != "code":
            continue
        body = ast.parse("".join(cell["source"])).body
        last = body[-1]
        done = body[:-1] if isinstance(last, ast.Expr) else body
        exec(compile(ast.Module(done, []), str(path), "exec"), names)
        if isinstance(last, ast.Expr):
            shown = eval(compile(ast.Expression(last.value), str(path), "eval"), names)
            page = getattr(shown, "_repr_html_", shown.__repr__)()
            assert page
    said = capsys.readouterr().out
    assert "reads on" in said and "Identities" in said


def test_stubs_have_every_name() -> None:
    """The stubs and the compiled module have the same names."""
    tree = ast.parse((PYTHON / "pyswalign" / "_native.pyi").read_text())
    stubs = {node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    public = {name for name in vars(_native) if not name.startswith("__")}
    assert public == {name for name in stubs if not name.startswith("_") or name in HIDDEN}
    for name in public:
        node, of = stubs[name], getattr(_native, name)
        if isinstance(node, ast.ClassDef) and node.body and of.__module__ == "pyswalign" and not issubclass(of, Exception):
            said = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
            own = {member for member in vars(of) if not member.startswith("__")}
            assert own <= said, (name, own - said)
            assert {member for member in said if not member.startswith("__")} <= own, (name, said - own)


def test_stubs_have_the_docstrings() -> None:
    """The stubs have the docstrings of the compiled module, copied by scripts/stubs.py."""
    tree = ast.parse((PYTHON / "pyswalign" / "_native.pyi").read_text())
    nodes = {node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    for name, node in list(nodes.items()):
        members = [item for item in node.body if isinstance(item, ast.FunctionDef)]
        nodes.update({f"{name}.{item.name}": item for item in members if isinstance(node, ast.ClassDef)})
    native = [(name, of) for name, of in documented() if not (getattr(of, "__module__", None) or "").endswith("_convert")]
    assert len(native) > 60
    for name, of in native:
        assert ast.get_docstring(nodes[name]) == inspect.getdoc(of), name


def test_convert_is_public() -> None:
    assert {name for name in vars(_convert) if name.startswith("from_")} <= set(pyswalign.__all__)


def test_paths() -> None:
    assert Path(pyswalign.__file__).parent.joinpath("py.typed").exists()
