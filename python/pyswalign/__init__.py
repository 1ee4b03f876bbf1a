"""Exact Smith-Waterman alignment, and search with edits, on the CPU and on GPUs with Vulkan,
Metal or DX12.

>>> import pyswalign
>>> hit = pyswalign.align("ACGTTGCATTAGCCATGGATCC", "GGACGTTGCATTCAAGCCATGGATCCAA", preset="long")
>>> hit.score, hit.target_start, hit.target_end, hit.cigar
(36, 2, 26, '10M2D12M')

``align`` and ``align_pairs`` take a query and a target each. An ``Aligner`` aligns queries with a ``Database``, which is made
once and shared. A ``Searcher`` finds patterns with few edits, and amplicons. Scores are the true optimum, and the answers do
not depend on the device. A str is a sequence; files are given as ``pathlib.Path`` or to ``Database.from_file``.

A gap of k letters costs gap_open + k * gap_extend; see ``Scoring``, ``from_biopython`` and ``from_parasail``.
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
