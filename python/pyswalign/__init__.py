"""Exact Smith-Waterman alignment, and pattern search with edits, on the CPU and on GPUs with Vulkan, Metal or DX12.

>>> import pyswalign
>>> hit = pyswalign.align("ACGTTGCATTAGCCATGGATCC", "GGACGTTGCATTCAAGCCATGGATCCAA", preset="long")
>>> hit.score, hit.target_start, hit.target_end, hit.cigar
(36, 2, 26, '10M2D12M')

``align`` aligns one query with one target, and ``align_pairs`` aligns many such pairs. An ``Aligner`` aligns queries
with all sequences of a ``Database``, which aligners can share. A ``Searcher`` finds patterns with a limited number of
edits, and amplicons. Scores are the true optimum, and results do not depend on the device. A str is a sequence. Give a
file as ``pathlib.Path``, or its name to ``Database.from_file``.

A gap of k residues costs gap_open + k * gap_extend; see ``Scoring``, ``from_biopython`` and ``from_parasail``.
"""

from ._convert import from_biopython, from_parasail
from ._native import (
    Aligner,
    Amplicon,
    Database,
    DeviceError,
    Hit,
    HitIterator,
    InputError,
    Match,
    MatchIterator,
    PairIterator,
    Scoring,
    Searcher,
    __version__,
    align,
    align_pairs,
)

__all__ = [
    "Aligner",
    "Amplicon",
    "Database",
    "DeviceError",
    "Hit",
    "HitIterator",
    "InputError",
    "Match",
    "MatchIterator",
    "PairIterator",
    "Scoring",
    "Searcher",
    "__version__",
    "align",
    "align_pairs",
    "from_biopython",
    "from_parasail",
]
