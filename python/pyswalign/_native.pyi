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
    """A file is not what it should be: the message has the file, the record, the line and the remedy."""

class DeviceError(RuntimeError):
    """A device can't be opened, or it failed and no other may go on."""

@final
class Scoring:
    """How letters and gaps score.

    A gap of k letters costs gap_open + k * gap_extend, both positive numbers: with gap_open=4 and gap_extend=2 a gap of one
    letter costs 6, and one of two letters 8. Biopython and parasail give the cost of the first letter and that of each
    further one; ``from_biopython`` and ``from_parasail`` translate.

    A built-in matrix brings the gap costs that blastp takes with it, such as 14/2 for BLOSUM45. BLOSUM80 is blastp's edition,
    in half bits; BLOSUM80_3 is that of EMBOSS, Biopython and parasail, in thirds of bits.

    Presets: "short" (1/4/6/1, bwa mem's without its clipping penalty; the default for DNA), "long" (2/4/4/2, minimap2's
    without its second gap piece), "blastn" (2/3/5/2), "linear" (1/1/0/2), "protein" (BLOSUM62 with 11/1; the default for
    proteins). Modes: "local", "glocal" (the whole query),
    "global" (both whole), "overlap" (one end of each is free).

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
        """Score of a match; None where a matrix scores."""

    @property
    def mismatch(self) -> int | None:
        """Cost of a mismatch, a positive number; None where a matrix scores."""

    @property
    def gap_open(self) -> int:
        """Cost of opening a gap, besides the extension by its first letter."""

    @property
    def gap_extend(self) -> int:
        """Cost of each letter of a gap."""

    @property
    def matrix(self) -> str | None:
        """The matrix's name; None where match and mismatch score."""

    @property
    def mode(self) -> Mode:
        """Which ends of the sequences are free: "local", "glocal", "global" or "overlap"."""

    @property
    def alphabet(self) -> Alphabet:
        '''"dna" or "protein".'''

    def score(self, query: str, target: str) -> int:
        """The score of two letters."""

    def gap_cost(self, length: int) -> int:
        """What a gap of so many letters costs."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...

@final
class Database:
    """The sequences that queries are aligned with.

    It is made of sequences (str, bytes, bytearray, NumPy arrays of uint8, pairs of a name and a sequence, records of
    Biopython or pysam, a mapping from names to sequences), or of a file: FASTA or FASTQ, plain or in gzip, or a database that
    ``swalign index`` made, whose letters stay in the file, which is mapped while the database or an aligner for it is in
    use. On Unix the first one installs a handler for SIGBUS, so that a file that is cut is an error. Sequences without a name
    are called by their place: "0", "1". Threads and aligners may share it.

    Whether the sequences are DNA or proteins is read off their letters, as the command does, unless ``alphabet`` says it. If
    they could be both, as short peptides of A, C, G and T could, a UserWarning says how they are read.

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
        """The name of the sequence at this place."""

    def length(self, index: int) -> int:
        """Letters of the sequence at this place."""

    def sequence(self, index: int, start: int = 0, end: int | None = None) -> str:
        """Letters of the sequence at this place, from start to end, as alignments have them: in upper case, U as T."""

@final
class Hit:
    """An alignment of a query with a target.

    Coordinates are 0-based and half-open, the query's in the query as it was given. On the strand -1 the query's reverse
    complement is aligned; ``cigar`` is in the target's direction, as SAM has it. ``print(hit)`` shows the letters.

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
        """How many alignments of this score are expected by chance; of one target with a database's size in an Aligner, of the
        two sequences alone in a pair. None in modes other than local, and for scorings whose scores grow without bound.
        """

    @property
    def bits(self) -> float | None:
        """The score in bits; None where there is no E-value."""

    @property
    def query_name(self) -> str | None:
        """The query's name; None where it was given without."""

    @property
    def target_name(self) -> str:
        """The target's name."""

    @property
    def target_index(self) -> int:
        """The target's place in the database, from 0."""

    @property
    def query_start(self) -> int:
        """First aligned letter of the query, from 0."""

    @property
    def query_end(self) -> int:
        """The letter behind the last aligned one of the query."""

    @property
    def query_length(self) -> int:
        """Letters of the whole query."""

    @property
    def target_start(self) -> int:
        """First aligned letter of the target, from 0."""

    @property
    def target_end(self) -> int:
        """The letter behind the last aligned one of the target."""

    @property
    def target_length(self) -> int:
        """Letters of the whole target."""

    @property
    def strand(self) -> Literal[1, -1]:
        """1 where the query is aligned as it was given, -1 where its reverse complement is."""

    @property
    def cigar(self) -> str:
        """The path in the target's direction as SAM writes it, without clips: M, I (the query alone) and D (the target alone)."""

    @property
    def cigar_list(self) -> list[tuple[int, str]]:
        """The same as a list of lengths and letters."""

    @property
    def matches(self) -> int:
        """Columns of equal letters; of DNA only A, C, G and T are equal."""

    @property
    def edits(self) -> int:
        """Columns that are no match: letters replaced, inserted and deleted."""

    @property
    def columns(self) -> int:
        """Columns of the alignment, gaps included."""

    @property
    def identity(self) -> float:
        """Matches in all columns, 0 to 1."""

    @property
    def alphabet(self) -> Alphabet:
        '''"dna" or "protein".'''

    @property
    def aligned(self) -> tuple[str, str, str]:
        """The rows of the alignment in the query's direction: the query with gaps, what stands between, the target with gaps."""

    def _repr_html_(self) -> str: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...

@final
class Match:
    """A place where a sequence of the database matches a pattern.

    ``start`` and ``end`` are 0-based and half-open, in the target. On the strand -1 the target has the pattern's reverse
    complement. ``cigar`` is in the target's direction, with = and X.
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
        """The pattern's name."""

    @property
    def target_name(self) -> str:
        """The target's name."""

    @property
    def pattern_index(self) -> int:
        """The pattern's place among those that were searched, from 0."""

    @property
    def target_index(self) -> int:
        """The target's place in the database, from 0."""

    @property
    def start(self) -> int:
        """First letter of the target in the match, from 0."""

    @property
    def end(self) -> int:
        """The letter behind the last one."""

    @property
    def strand(self) -> Literal[1, -1]:
        """1 where the target has the pattern as it was given, -1 where it has its reverse complement."""

    @property
    def edits(self) -> int:
        """The fewest edits with which the pattern ends there."""

    @property
    def cigar(self) -> str:
        """The path in the target's direction: = and X, I (the pattern alone) and D (the target alone)."""

    @property
    def cigar_list(self) -> list[tuple[int, str]]:
        """The same as a list of lengths and letters."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...

@final
class HitIterator(Iterator[list[Hit]]):
    """The hits of queries, one list after the other."""

    def __iter__(self) -> HitIterator: ...
    def __next__(self) -> list[Hit]: ...

@final
class PairIterator(Iterator[Hit | None]):
    """The hits of pairs, one after the other."""

    def __iter__(self) -> PairIterator: ...
    def __next__(self) -> Hit | None: ...

@final
class Aligner:
    """Finds the best alignments of queries with the sequences of a database.

    The score of each hit is the true optimum, and the hits do not depend on the device or the number of threads. Threads may
    share an aligner, and the GIL is free while it works. ``device`` is "auto" (the best GPU, or the CPU where there is
    none or it fails), "cpu", "gpu", or one GPU as in "gpu:0". The scoring is a ``preset``, numbers that override it
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
        """The hits of one query, the best first: the alignment of the highest score over all targets and strands, then the best
        one that overlaps no earlier hit on its target and strand, and so on, up to ``max_hits``. Empty where nothing
        scores ``min_score``.
        """

    def align_batch(self, queries: Sequences) -> HitIterator:
        """The hits of each query, in their order, as an iterator of lists.

        Queries are any iterable, an endless one too, a mapping from names to sequences, or the pathlib.Path of a FASTA or
        FASTQ file. They are taken some thousands at a time, as hits are asked for. What is wrong with one query is raised in
        its place, and the next ones may be asked for.
        """

    def score_matrix(
        self, queries: Database | Sequences, targets: str | Database | Sequences | None = None
    ) -> numpy.typing.NDArray[numpy.int32]:
        """The best score of each query with each target as a NumPy array of int32: a row for each query, a column for each
        target. Targets are the database's, unless others are given. 0 where nothing scores in local mode.
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
        """Finds where patterns occur in the database's sequences with at most ``k`` edits, on both strands: a list of Match, by
        target, start and end. Patterns are sequences, with or without names, of IUPAC letters: R matches A and G.

        Edits are letters replaced, inserted and deleted, or, with ``indels=False``, replaced alone. An end is a match if it has
        no edits or if its edits are a local minimum; with ``every_end`` each end with at most ``k`` edits is. With ``best`` only
        the matches of a target with its fewest edits are given.

        ``pam`` keeps the matches with these IUPAC letters beside them, at the pattern's 3' side or, with ``pam_side=5``, at its
        5' side. ``max_ins``, ``max_del``, ``max_sub`` and ``max_gap`` limit letters of the pattern that the target lacks, the
        reverse, letters replaced, and both kinds of gaps together.

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
        """How letters and gaps score."""

    @property
    def device(self) -> str:
        """What computes: "GPU NVIDIA H100", "CPU (2 threads, avx512)"."""

def align(
    query: Sequence,
    target: Sequence,
    *,
    both_strands: bool = False,
    min_score: int | None = None,
    **choice: Unpack[_Scores],
) -> Hit | None:
    """The best alignment of a query with a target; None where nothing scores more than 0, or ``min_score``.

    Both are str, bytes, bytearray, NumPy arrays of uint8, pairs of a name and a sequence, or records of Biopython or pysam.
    Whether they are DNA or proteins is read off their letters, unless ``alphabet``, a ``preset`` or a ``matrix`` says so.
    Only the forward strand is aligned, unless ``both_strands``. It runs on the CPU; ``align_pairs`` is quicker for many.

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
    """The best alignment of each pair of a query and a target, in their order, as an iterator of hits, None where there is none.

    Pairs are any iterable of two sequences each, an endless one too. They are taken some thousands at a time, as hits are
    asked for. What is wrong with one pair is raised in its place, and the next ones may be asked for. ``device`` is that of
    an Aligner. Whether all are DNA or proteins is read off the first pair whose letters leave no doubt, of the first 32, unless
    ``alphabet``, a ``preset`` or a ``matrix`` says so. A later pair that contradicts it is an error.

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
