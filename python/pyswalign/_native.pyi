from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from typing import Any, Literal, Protocol, TypedDict, Union, final

import numpy
import numpy.typing
from typing_extensions import TypeAlias, Unpack

__version__: str

Alphabet: TypeAlias = Literal["dna", "protein"]
Mode: TypeAlias = Literal["local", "glocal", "global", "overlap"]
Preset: TypeAlias = Literal["short", "long", "blastn", "linear", "protein"]

Letters: TypeAlias = Union[str, bytes, bytearray, memoryview, "numpy.typing.NDArray[numpy.uint8]"]

class _SeqRecord(Protocol):
    """A record of Biopython."""

    @property
    def id(self) -> Any: ...
    @property
    def seq(self) -> Any: ...

class _FastxRecord(Protocol):
    """A record of pysam."""

    @property
    def name(self) -> Any: ...
    @property
    def sequence(self) -> Any: ...

class _Seq(Protocol):
    """A sequence of Biopython."""

    def __bytes__(self) -> bytes: ...

Sequence: TypeAlias = Union[Letters, tuple[str, Letters], tuple[str, _Seq], _SeqRecord, _FastxRecord, _Seq]
Sequences: TypeAlias = Union[Iterable[Sequence], Mapping[str, Letters], PathLike[str]]

class _Numbers(TypedDict, total=False):
    match: int | None
    mismatch: int | None
    gap_open: int | None
    gap_extend: int | None
    matrix: str | PathLike[str] | tuple[str, str] | None
    mode: Mode | None
    alphabet: Alphabet | None

class _Scores(_Numbers, total=False):
    preset: Preset | None
    scoring: Scoring | None

class InputError(ValueError):
    """An input file is invalid. The message has the file, the record and the line, and says what to do."""

class DeviceError(RuntimeError):
    """A device cannot be opened, or it failed and no other device may continue."""

@final
class Scoring:
    """A scoring scheme: scores of pairs of residues, gap costs, and the ends that are free.

    A gap of k residues costs gap_open + k * gap_extend, both positive numbers: with gap_open=4 and gap_extend=2 a gap of
    one residue costs 6, and a gap of two costs 8. Biopython and parasail give the cost of the first residue and that of
    each further residue; ``from_biopython`` and ``from_parasail`` translate.

    A built-in matrix sets the default gap costs of blastp, such as 14/2 for BLOSUM45. BLOSUM80 is the edition of blastp, in
    half bits; BLOSUM80_3 is that of EMBOSS, Biopython and parasail, in thirds of bits.

    Presets: "short" (1/4/6/1, as bwa mem without its clipping penalty; the default for DNA), "long" (2/4/4/2, as minimap2
    without its second gap cost), "blastn" (2/3/5/2), "linear" (1/1/0/2), "protein" (BLOSUM62 with 11/1; the default for
    proteins). Modes: "local", "glocal" (the whole query), "global" (both whole), "overlap" (one end of each is free).

    >>> from pyswalign import Scoring
    >>> Scoring("long")
    Scoring(match=2, mismatch=4, gap_open=4, gap_extend=2)
    >>> Scoring(match=2, mode="global").gap_open
    6
    >>> Scoring(matrix="BLOSUM50")
    Scoring(matrix='BLOSUM50', gap_open=13, gap_extend=2)
    """

    def __new__(cls, preset: Preset | None = None, **choice: Unpack[_Numbers]) -> Scoring: ...
    @property
    def match(self) -> int | None:
        """Score of a match; None with a matrix."""

    @property
    def mismatch(self) -> int | None:
        """Cost of a mismatch, a positive number; None with a matrix."""

    @property
    def gap_open(self) -> int:
        """Cost of opening a gap, without the extension by its first residue."""

    @property
    def gap_extend(self) -> int:
        """Cost of each residue of a gap."""

    @property
    def matrix(self) -> str | None:
        """The name of the matrix; None with match and mismatch."""

    @property
    def mode(self) -> Mode:
        """The ends of the sequences that are free: "local", "glocal", "global" or "overlap"."""

    @property
    def alphabet(self) -> Alphabet:
        '''"dna" or "protein".'''

    def score(self, query: str, target: str) -> int:
        """Returns the score of two residues."""

    def gap_cost(self, length: int) -> int:
        """Returns the cost of a gap of ``length`` residues."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...

@final
class Database:
    """The sequences that queries are aligned with.

    The source is sequences or a file. Sequences are str, bytes, bytearray, NumPy arrays of uint8, pairs of a name and a
    sequence, records of Biopython or pysam, or a mapping from names to sequences. A file is FASTA or FASTQ, plain or gzip,
    or a database of ``swalign index``. Such a database is mapped into memory as long as it is in use. On Unix, the first
    one installs a handler for SIGBUS, so that truncating the file raises an error. Sequences without a name are named by
    their index: "0", "1". Threads and aligners may share a database.

    The residues decide whether the sequences are DNA or proteins, as in the command, unless ``alphabet`` is given. If they
    could be both, as short peptides of A, C, G and T, a UserWarning says how they are read.

    >>> from pyswalign import Database
    >>> database = Database({"chr1": "ACGTTGCA", "chr2": "GATTACA"})
    >>> len(database), database.names, database.length(1), database.alphabet
    (2, ['chr1', 'chr2'], 7, 'dna')
    >>> database.sequence(0, 2, 5)
    'GTT'
    """

    def __new__(cls, sequences: str | Sequences, *, alphabet: Alphabet | None = None) -> Database: ...
    def __len__(self) -> int: ...
    @property
    def names(self) -> list[str]:
        """The names of the sequences, in their order."""

    @property
    def alphabet(self) -> Alphabet:
        '''"dna" or "protein".'''

    def name(self, index: int) -> str:
        """Returns the name of a sequence."""

    def length(self, index: int) -> int:
        """Returns the number of residues of a sequence."""

    def sequence(self, index: int, start: int = 0, end: int | None = None) -> str:
        """Returns the residues of a sequence from ``start`` to ``end``, as in alignments: in upper case, with U as T."""

@final
class Hit:
    """An alignment of a query with a target.

    Coordinates are 0-based and half-open. Those of the query refer to the query as given. On strand -1 the reverse
    complement of the query is aligned. ``cigar`` has the direction of the target, as in SAM. ``print(hit)`` shows the
    alignment.

    >>> import pyswalign
    >>> hit = pyswalign.align("ACGTTGCATTAGCCATGGATCC", "GGACGTTGCATTCAAGCCATGGATCCAA", preset="long")
    >>> hit.score, hit.query_start, hit.query_end, hit.target_start, hit.target_end, hit.cigar
    (36, 0, 22, 2, 26, '10M2D12M')
    >>> print(hit)
    Query: query (22 letters)
    <BLANKLINE>
    > target (28 letters)
    Score 36 (34.5 bits), E-value 1.74e-08, strand +
    Identities 22/24 (91.7 %), gaps 2/24 (8.3 %), query 100.0 % covered
    <BLANKLINE>
    Query   1 ACGTTGCATT--AGCCATGGATCC 22
              ||||||||||  ||||||||||||
    Target  3 ACGTTGCATTCAAGCCATGGATCC 26
    """

    @property
    def score(self) -> int:
        """The optimal score."""

    @property
    def evalue(self) -> float | None:
        """The expected number of alignments with this score by chance. In an Aligner, the search space is one target of the
        size of the database; in a pair, the two sequences. None in modes other than local, and for scoring schemes whose
        scores grow in proportion to the length.
        """

    @property
    def bits(self) -> float | None:
        """The score in bits; None if there is no E-value."""

    @property
    def query_name(self) -> str | None:
        """The name of the query; None if it has no name."""

    @property
    def target_name(self) -> str:
        """The name of the target."""

    @property
    def target_index(self) -> int:
        """Index of the target in the database, from 0."""

    @property
    def query_start(self) -> int:
        """Position of the first aligned residue of the query, from 0."""

    @property
    def query_end(self) -> int:
        """Position after the last aligned residue of the query."""

    @property
    def query_length(self) -> int:
        """Length of the whole query."""

    @property
    def target_start(self) -> int:
        """Position of the first aligned residue of the target, from 0."""

    @property
    def target_end(self) -> int:
        """Position after the last aligned residue of the target."""

    @property
    def target_length(self) -> int:
        """Length of the whole target."""

    @property
    def strand(self) -> Literal[1, -1]:
        """1 if the query is aligned as given, -1 if its reverse complement is."""

    @property
    def cigar(self) -> str:
        """The path in the direction of the target, as in SAM, without clips: M, I (query only) and D (target only)."""

    @property
    def cigar_list(self) -> list[tuple[int, str]]:
        """The same as a list of pairs of a length and an operation."""

    @property
    def matches(self) -> int:
        """Number of columns with equal residues. In DNA only A, C, G and T are equal."""

    @property
    def edits(self) -> int:
        """Number of columns with a substitution, an insertion or a deletion."""

    @property
    def columns(self) -> int:
        """Number of columns of the alignment, with gaps."""

    @property
    def identity(self) -> float:
        """Matches divided by columns, from 0 to 1."""

    @property
    def alphabet(self) -> Alphabet:
        '''"dna" or "protein".'''

    @property
    def aligned(self) -> tuple[str, str, str]:
        """The rows of the alignment in the direction of the query: the query with gaps, the line between, and the target with
        gaps.
        """

    def _repr_html_(self) -> str: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...

@final
class Match:
    """An occurrence of a pattern in a sequence of the database.

    ``start`` and ``end`` are 0-based and half-open, in the target. On strand -1 the target has the reverse complement of
    the pattern. ``cigar`` has the direction of the target, with = and X.
    """

    def __new__(
        cls,
        pattern_name: str,
        target_name: str,
        pattern_index: int,
        target_index: int,
        start: int,
        end: int,
        strand: int,
        edits: int,
        cigar_list: list[tuple[int, str]],
    ) -> Match: ...
    @property
    def pattern_name(self) -> str:
        """The name of the pattern."""

    @property
    def target_name(self) -> str:
        """The name of the target."""

    @property
    def pattern_index(self) -> int:
        """Index of the pattern among the patterns of the search, from 0."""

    @property
    def target_index(self) -> int:
        """Index of the target in the database, from 0."""

    @property
    def start(self) -> int:
        """Position of the first base of the match in the target, from 0."""

    @property
    def end(self) -> int:
        """Position after the last base of the match in the target."""

    @property
    def strand(self) -> Literal[1, -1]:
        """1 if the target has the pattern as given, -1 if it has its reverse complement."""

    @property
    def edits(self) -> int:
        """The fewest edits of the pattern that end here."""

    @property
    def cigar(self) -> str:
        """The path in the direction of the target: = and X, I (pattern only) and D (target only)."""

    @property
    def cigar_list(self) -> list[tuple[int, str]]:
        """The same as a list of pairs of a length and an operation."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...

@final
class HitIterator(Iterator[list[Hit]]):
    """An iterator over the lists of hits of queries."""

    def __iter__(self) -> HitIterator: ...
    def __next__(self) -> list[Hit]: ...

@final
class PairIterator(Iterator[Hit | None]):
    """An iterator over the hits of pairs."""

    def __iter__(self) -> PairIterator: ...
    def __next__(self) -> Hit | None: ...

@final
class Aligner:
    """Finds the best alignments of queries with the sequences of a database.

    The score of each hit is the true optimum. The hits do not depend on the device or the number of threads. Threads may
    share an aligner, and it releases the GIL while it works. ``device`` is "auto" (the best GPU, or the CPU if there is no
    GPU or it fails), "cpu", "gpu", or one GPU as in "gpu:0". The scoring scheme is a ``preset``, numbers that override it
    (``match``, ``mismatch``, ``gap_open``, ``gap_extend``, ``matrix``, ``mode``), or a ``scoring``.

    >>> from pyswalign import Aligner, Database
    >>> aligner = Aligner(Database([("chr1", "GGACGTTGCATTCAAGCCATGGATCCAA")]), preset="long", min_score=20, device="cpu")
    >>> [hit] = aligner.align("ACGTTGCATTAGCCATGGATCC")
    >>> hit
    <Hit query:0-22 chr1:2-26 + score=36 10M2D12M>
    >>> queries = [("r1", "ACGTTGCATTAGCC"), ("r2", "GGATCCATGGCT")]
    >>> [[(hit.query_name, hit.strand, hit.score) for hit in hits] for hits in aligner.align_batch(queries)]
    [[('r1', 1, 20)], [('r2', -1, 24)]]
    """

    def __new__(
        cls,
        database: str | Database | Sequences,
        *,
        device: str = "auto",
        min_score: int | None = None,
        max_hits: int = 1,
        secondary_ratio: float = 0.8,
        both_strands: bool = True,
        filter: bool = True,
        **choice: Unpack[_Scores],
    ) -> Aligner: ...
    def align(self, query: Sequence) -> list[Hit]:
        """Returns the hits of one query, best first, at most ``max_hits``.

        The first hit has the highest score over all targets and strands. Each further hit is the best one that does not
        overlap an earlier hit on its target and strand. The list is empty if no alignment scores at least ``min_score``.
        """

    def align_batch(self, queries: Sequences) -> HitIterator:
        """Returns an iterator over the lists of hits of the queries, in the order of the queries.

        Queries are an iterable (it may be endless), a mapping from names to sequences, or the pathlib.Path of a FASTA or
        FASTQ file. The iterator reads some thousands of queries at a time. If a query is invalid, the iterator raises an
        error in its turn, and then continues with the next query.
        """

    def score_matrix(
        self, queries: Database | Sequences, targets: str | Database | Sequences | None = None
    ) -> numpy.typing.NDArray[numpy.int32]:
        """Returns the best score of each query with each target as a NumPy array of int32.

        The array has a row for each query and a column for each target. The targets are those of the database, unless
        ``targets`` is given. In local mode, the score of two sequences without a positive score is 0.
        """

    def search(
        self,
        patterns: Letters | Sequences,
        k: int = 0,
        *,
        indels: bool = True,
        both_strands: bool = True,
        every_end: bool = False,
        best: bool = False,
        pam: str | None = None,
        pam_side: int = 3,
        max_ins: int | None = None,
        max_del: int | None = None,
        max_sub: int | None = None,
        max_gap: int | None = None,
    ) -> list[Match]:
        """Finds all occurrences of patterns in the sequences of the database, with at most ``k`` edits, on both strands.

        Returns a list of Match, sorted by target, start and end. Patterns are sequences of IUPAC codes, with or without
        names: R matches A and G.

        Edits are substitutions, insertions and deletions; with ``indels=False`` only substitutions. An end is a match if it
        has no edits, or if neither adjacent end has fewer edits. With ``every_end``, each end with at most ``k`` edits is a
        match. With ``best``, a target has only its matches with the fewest edits.

        ``pam`` keeps only matches next to these IUPAC codes, on the 3' side of the pattern or, with ``pam_side=5``, on its
        5' side. ``max_ins`` limits bases of the pattern that the target lacks, ``max_del`` bases of the target that the
        pattern lacks, ``max_sub`` substitutions, and ``max_gap`` insertions and deletions together.

        >>> from pyswalign import Aligner
        >>> aligner = Aligner([("t", "CCGATACACCTGTAATCCC")], device="cpu")
        >>> [(m.pattern_name, m.start, m.end, m.strand, m.edits, m.cigar) for m in aligner.search({"site": "GATTACA"}, k=1)]
        [('site', 2, 8, 1, 1, '2=1I4='), ('site', 10, 17, -1, 0, '7=')]
        """

    @property
    def database(self) -> Database:
        """The database."""

    @property
    def scoring(self) -> Scoring:
        """The scoring scheme."""

    @property
    def device(self) -> str:
        """The device in use, such as "GPU NVIDIA H100" or "CPU (2 threads, avx512)"."""

def align(
    query: Sequence,
    target: Sequence,
    *,
    both_strands: bool = False,
    min_score: int | None = None,
    **choice: Unpack[_Scores],
) -> Hit | None:
    """Returns the best alignment of a query with a target; None if no alignment scores more than 0, or at least ``min_score``.

    Both are str, bytes, bytearray, NumPy arrays of uint8, pairs of a name and a sequence, or records of Biopython or pysam.
    Their residues decide whether they are DNA or proteins, unless ``alphabet``, ``preset`` or ``matrix`` does. Only the
    forward strand is aligned, unless ``both_strands`` is true. It runs on the CPU. ``align_pairs`` is faster for many
    pairs.

    >>> import pyswalign
    >>> pyswalign.align("ACGTTGCA", "TTACGTTGGCATT", match=2, mismatch=4, gap_open=4, gap_extend=2)
    <Hit query:0-6 target:2-8 + score=12 6M>
    >>> pyswalign.align("HEAGAWGHEE", "PAWHEAE").score
    17
    >>> pyswalign.align("AAAA", "CCCC") is None
    True
    """

def align_pairs(
    pairs: Iterable[tuple[Sequence, Sequence]],
    *,
    device: str = "auto",
    both_strands: bool = False,
    min_score: int | None = None,
    **choice: Unpack[_Scores],
) -> PairIterator:
    """Returns an iterator over the best alignment of each pair of a query and a target, in their order; None for a pair
    without one.

    Pairs are an iterable of two sequences each (it may be endless). The iterator reads some thousands of pairs at a time.
    If a pair is invalid, the iterator raises an error in its turn, and then continues with the next pair. ``device`` is as
    in Aligner. Among the first 32 pairs, the first pair whose residues leave no doubt decides whether all are DNA or
    proteins, unless ``alphabet``, ``preset`` or ``matrix`` does. A later pair that contradicts it raises an error.

    >>> import pyswalign
    >>> pairs = [("ACGTTGCA", "TTACGTTGGCATT"), ("GATTACA", "GATTTACA")]
    >>> [hit.score for hit in pyswalign.align_pairs(pairs, preset="long", device="cpu")]
    [12, 10]
    """

def _hit(state: tuple[Any, ...]) -> Hit:
    """Makes a pickled hit anew."""

def _scoring(keywords: dict[str, Any]) -> Scoring:
    """Makes a pickled scoring anew."""

def _align_again(query: Sequence, target: Sequence, scoring: Scoring, count: int) -> None:
    """Aligns one pair so many times without Python, for benchmarks/pairs.py."""
