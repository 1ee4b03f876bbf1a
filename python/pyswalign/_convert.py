"""Conversion of the scorings of Biopython and parasail."""

from __future__ import annotations

from typing import Any, Literal

from ._native import Scoring


def _whole(name: str, value: float) -> int:
    if value != int(value):
        raise ValueError(f"{name} {value} is no whole number: multiply all scores by one factor")
    return int(value)


def _gaps(opened: int, extended: int) -> dict[str, Any]:
    """Returns our gap costs for gaps whose first residue costs ``opened``, and each further residue ``extended``."""
    if extended < 1:
        raise ValueError(f"a further letter of a gap costs {extended}; scorings here charge at least 1")
    if opened < extended:
        raise ValueError(f"the first letter of a gap costs {opened}, less than the {extended} of a further one")
    return {"gap_open": opened - extended, "gap_extend": extended}


def _matrix(name: str, letters: str, rows: Any) -> tuple[str, str]:
    """Returns the name and the text of a matrix, in the format of BLAST's matrix files."""
    lines = ["   " + "  ".join(letters)]
    for letter, row in zip(letters, rows):
        lines.append(" ".join([letter, *(str(_whole("a score", float(score))) for score in row)]))
    return name, "\n".join(lines) + "\n"


def _match_and_mismatch(match: float, mismatch: float) -> dict[str, Any]:
    if match < 1 or mismatch > 0:
        raise ValueError(f"match {match} and mismatch {mismatch}: give a positive match, and a mismatch of 0 or less")
    penalty = _whole("mismatch", -mismatch)
    return {"match": _whole("match", match), "mismatch": penalty, "ambiguous": penalty}


def from_biopython(aligner: Any) -> Scoring:
    """Returns the scoring of a ``Bio.Align.PairwiseAligner``.

    In Biopython, the first residue of a gap scores ``open_gap_score``, and each further residue ``extend_gap_score``,
    both negative. In pyswalign, a gap of k residues costs gap_open + k * gap_extend. So -7 and -1 become gap_open=6 and
    gap_extend=1. The mode must be "local" or "global", all scores must be whole numbers, and insertions, deletions and
    end gaps must cost the same. In the other cases the function raises ValueError.

    >>> from Bio.Align import PairwiseAligner
    >>> from pyswalign import from_biopython
    >>> aligner = PairwiseAligner(mode="local", match_score=1, mismatch_score=-4, open_gap_score=-7, extend_gap_score=-1)
    >>> from_biopython(aligner)
    Scoring(match=1, mismatch=4, gap_open=6, gap_extend=1)
    """
    if aligner.mode not in ("local", "global"):
        raise ValueError(f"mode '{aligner.mode}' of Biopython is not known here; give 'local' or 'global'")
    try:
        costs = [_whole("a gap's score", -score) for score in (aligner.open_gap_score, aligner.extend_gap_score)]
    except ValueError as error:
        raise ValueError(f"insertions, deletions and gaps at the ends must cost the same: {error}") from error
    keywords: dict[str, Any] = {"mode": aligner.mode, **_gaps(*costs)}
    matrix = aligner.substitution_matrix
    if matrix is None:
        return Scoring(**keywords, **_match_and_mismatch(aligner.match_score, aligner.mismatch_score))
    letters = "".join(matrix.alphabet)
    alphabet: Literal["dna", "protein"] = "dna" if set(letters) <= set("ACGTUNRYSWKMBDHV") else "protein"
    rows = [[matrix[query, target] for target in letters] for query in letters]
    return Scoring(**keywords, matrix=_matrix("Biopython", letters, rows), alphabet=alphabet)


def from_parasail(open: int, extend: int, matrix: Any = None, *, mode: str = "local") -> Scoring:
    """Returns the scoring of ``parasail.sw_trace(query, target, open, extend, matrix)``.

    In parasail, the first residue of a gap costs ``open``, and each further residue ``extend``. In pyswalign, a gap of
    k residues costs gap_open + k * gap_extend. So 11 and 1 become gap_open=10 and gap_extend=1. ``matrix`` is a matrix
    of parasail, or the name of a built-in matrix. The default is BLOSUM62.

    >>> from pyswalign import from_parasail
    >>> from_parasail(11, 1)
    Scoring(matrix='BLOSUM62', gap_open=10, gap_extend=1)
    """
    keywords: dict[str, Any] = {"mode": mode, **_gaps(open, extend)}
    if matrix is None or isinstance(matrix, str):
        return Scoring(**keywords, matrix=_own_name(matrix or "BLOSUM62"))
    letters = _letters(matrix)
    rows = [[int(score) for score in row[: len(letters)]] for row in matrix.matrix[: len(letters)]]
    if not set(letters) <= set("ACGTUN"):
        named = _built_in(matrix, letters, rows, keywords)
        return named or Scoring(**keywords, matrix=_matrix("parasail", letters, rows), alphabet="protein")
    same = {rows[at][at] for at in range(len(letters))}
    others = {score for at, row in enumerate(rows) for to, score in enumerate(row) if at != to}
    if set(letters) == set("ACGT") and len(same) == 1 and len(others) == 1:
        return Scoring(**keywords, **_match_and_mismatch(same.pop(), others.pop()))
    return Scoring(**keywords, matrix=_matrix("parasail", letters, rows), alphabet="dna")


def _letters(matrix: Any) -> str:
    """Returns the residues of a parasail matrix, in its order.

    The last row of a matrix may have the scores of all other characters. It becomes the row of '*' if there are more
    than 20 residues. If not, it is omitted.
    """
    mapper = [int(place) for place in matrix.mapper[:128]]
    letters = ""
    for place in range(matrix.size):
        own = [chr(code) for code in range(128) if mapper[code] == place and chr(code).isupper()]
        if len(own) == 1:
            letters += own[0]
    if matrix.size == len(letters) + 1 and len(letters) > 20:
        letters += "*"
    return letters


def _own_name(name: str) -> str:
    """Returns our name of a parasail matrix. BLOSUM80 of parasail is in thirds of bits."""
    return "BLOSUM80_3" if name.upper() == "BLOSUM80" else name.upper()


def _built_in(matrix: Any, letters: str, rows: list[list[int]], keywords: dict[str, Any]) -> Scoring | None:
    """Returns the scoring with the built-in matrix of the same name, if the two matrices have equal scores."""
    try:
        scoring = Scoring(**keywords, matrix=_own_name(matrix.name.decode()))
    except (OSError, UnicodeDecodeError):
        return None
    pairs = ((query, target) for query in range(len(letters)) for target in range(len(letters)))
    same = all(scoring.score(letters[query], letters[target]) == rows[query][target] for query, target in pairs)
    return scoring if same else None
