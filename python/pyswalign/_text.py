"""Text and HTML of a hit, for ``print`` and for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Iterator

if TYPE_CHECKING:
    from ._native import Hit

WIDTH = 80


def _share(part: int, columns: int) -> str:
    return f"{part}/{columns} ({100 * part / max(columns, 1):.1f} %)"


def _evalue(evalue: float) -> str:
    """Formats an E-value as in BLAST's tables."""
    if evalue < 1e-180:
        return "0.0"
    if evalue < 0.0009:
        return f"{evalue:.2e}"
    for most, digits in ((0.1, 3), (1.0, 2), (10.0, 1)):
        if evalue < most:
            return f"{evalue:.{digits}f}"
    return f"{evalue:.0f}"


def _bits(bits: float) -> str:
    if bits > 99_999:
        return f"{bits:.3e}"
    return f"{int(bits)}" if bits > 99.9 else f"{bits:.1f}"


def _headline(hit: Hit) -> Iterator[str]:
    evalue, bits = hit.evalue, hit.bits
    likely = "" if evalue is None or bits is None else f" ({_bits(bits)} bits), E-value {_evalue(evalue)}"
    strand = "" if hit.alphabet == "protein" else f", strand {'+' if hit.strand > 0 else '-'}"
    yield f"Score {hit.score}{likely}{strand}"
    signs = hit.aligned[1]
    positive = len(signs) - signs.count(" ")
    positives = f", positives {_share(positive, hit.columns)}" if hit.alphabet == "protein" else ""
    gapped = sum(length for length, op in hit.cigar_list if op in "ID")
    gaps = f", gaps {_share(gapped, hit.columns)}" if gapped else ""
    covered = 100 * (hit.query_end - hit.query_start) / max(hit.query_length, 1)
    yield f"Identities {_share(hit.matches, hit.columns)}{positives}{gaps}, query {covered:.1f} % covered"


class _Row:
    """A row of an alignment block: its label, and the 1-based position of its next residue."""

    def __init__(self, label: str, first: int, step: int) -> None:
        self.label, self.next, self.step = label, first, step

    def line(self, letters: str, digits: int) -> str:
        taken = len(letters) - letters.count("-")
        first = self.next if taken else self.next - self.step
        self.next += taken * self.step
        return f"{self.label} {first:>{digits}} {letters} {self.next - self.step}"


def _blocks(hit: Hit, width: int) -> Iterator[tuple[str, str, str]]:
    start, end = hit.target_start + 1, hit.target_end
    first, last, step = (start, end, 1) if hit.strand > 0 else (end, start, -1)
    digits = max(len(str(number)) for number in (hit.query_start + 1, hit.query_end, first, last))
    room = max(width - 2 * digits - len("Target") - 3, 20)
    query, target = _Row("Query ", hit.query_start + 1, 1), _Row("Target", first, step)
    rows = hit.aligned
    for at in range(0, len(rows[0]), room):
        upper, signs, lower = (row[at : at + room] for row in rows)
        indent = " " * (digits + len("Target") + 2)
        yield query.line(upper, digits), (indent + signs).rstrip(), target.line(lower, digits)


def text(hit: Hit, width: int = WIDTH) -> str:
    """Returns the hit as ``swalign --format text`` writes it."""
    lines = [
        f"Query: {hit.query_name or 'query'} ({hit.query_length} letters)",
        "",
        f"> {hit.target_name} ({hit.target_length} letters)",
        *_headline(hit),
    ]
    for block in _blocks(hit, width):
        lines += ["", *block]
    return "\n".join(lines)


def html(hit: Hit) -> str:
    """Returns the hit as an HTML table, followed by the alignment."""
    evalue = hit.evalue
    cells = {
        "query": f"{hit.query_name or 'query'}:{hit.query_start}-{hit.query_end}",
        "target": f"{hit.target_name}:{hit.target_start}-{hit.target_end}",
        "strand": "+" if hit.strand > 0 else "-",
        "score": str(hit.score),
        "E-value": "" if evalue is None else _evalue(evalue),
        "identity": f"{hit.identity:.3f}",
    }
    heads = "".join(f"<th>{escape(name)}</th>" for name in cells)
    values = "".join(f"<td>{escape(value)}</td>" for value in cells.values())
    blocks = "\n\n".join("\n".join(block) for block in _blocks(hit, WIDTH))
    return (
        f"<table><tr>{heads}</tr><tr>{values}</tr></table>"
        f'<pre style="line-height: 1.1">{escape(blocks)}</pre>'
    )
