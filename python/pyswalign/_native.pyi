from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from typing import Any, Literal, Protocol, Union, final

import numpy
import numpy.typing
from typing_extensions import TypeAlias

__version__: str

Alphabet: TypeAlias = Literal["dna", "protein"]
Mode: TypeAlias = Literal["local", "glocal", "global", "overlap"]
Preset: TypeAlias = Literal[
    "short", "long", "map-hifi", "map-ont", "map-pb", "asm5", "asm10", "asm20", "blastn", "linear", "protein"
]

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

class InputError(ValueError):
    """The contents of a file are invalid. The message has the file, the record, the line and a remedy."""

class DeviceError(RuntimeError):
    """The device can't be opened, or it failed and no other device may continue."""

@final
class Scoring:
    """Scores of residues and costs of gaps.

    A gap of k residues costs gap_open + k * gap_extend, both positive numbers: with gap_open=4 and gap_extend=2, a gap of one
    residue costs 6, and a gap of two residues costs 8. Biopython and parasail have one cost for the first residue and another
    cost for each further residue; ``from_biopython`` and ``from_parasail`` translate.

    ``matrix`` is the name of a built-in matrix, the pathlib.Path of a file, or a name and the text of a matrix. A built-in
    matrix has the gap costs of blastp by default, such as 14/2 for BLOSUM45. BLOSUM80 is the edition of blastp, in half bits;
    BLOSUM80_3 is the edition of EMBOSS, Biopython and parasail, in thirds of bits.

    With two numbers each, as in gap_open=(4, 24) and gap_extend=(2, 1), a gap costs the lower of two costs, as in minimap2.

    Presets: "short" (1/4/6/1, as in bwa mem without its end bonus; the default for DNA), "long" (2/4/4/2, as in minimap2
    without its second gap cost), "map-ont", "map-pb", "map-hifi", "asm5", "asm10" and "asm20" with the numbers of minimap2,
    "blastn" (2/3/5/2), "linear" (1/1/0/2), "protein" (BLOSUM62 with 11/1; the default for proteins). If given, "short" and
    the presets of minimap2 have a penalty of 1 for ambiguous codes. Modes: "local", "glocal" (the whole query), "global" (both whole), "overlap" (one end of each is free).

    >>> from pyswalign import Scoring
    >>> Scoring("long")
    Scoring(match=2, mismatch=4, ambiguous=1, gap_open=4, gap_extend=2)
    >>> Scoring("map-hifi").gap_open
    (6, 26)
    >>> Scoring(match=2, mode="global").gap_open
    6
    >>> Scoring(matrix="BLOSUM50")
    Scoring(matrix='BLOSUM50', gap_open=13, gap_extend=2)
    """

    def __new__(
        cls,
        preset: Preset | None = None,
        *,
        match: int | None = None,
        mismatch: int | None = None,
        ambiguous: int | None = None,
        iupac: bool = False,
        end_bonus: int | None = None,
        gap_open: int | tuple[int, int] | None = None,
        gap_extend: int | tuple[int, int] | None = None,
        matrix: str | PathLike[str] | tuple[str, str] | None = None,
        mode: Mode | None = None,
        alphabet: Alphabet | None = None,
    ) -> Scoring: ...
    @property
    def match(self) -> int | None:
        """Score of a match; None if a matrix has the scores."""

    @property
    def mismatch(self) -> int | None:
        """Cost of a mismatch, a positive number; None if a matrix has the scores."""

    @property
    def ambiguous(self) -> int | None:
        """Cost of a pair with N or another ambiguous code, a positive number; None if these codes match or a matrix has the
        scores.
        """

    @property
    def iupac(self) -> bool:
        """Whether ambiguous codes match the codes that they have a base in common with."""

    @property
    def end_bonus(self) -> int:
        """Bonus of an alignment for each end of the query that it reaches. It decides which alignment is the best one, but it is
        not part of the score.
        """

    @property
    def gap_open(self) -> int | tuple[int, int]:
        """Cost of opening a gap, in addition to the cost of its first residue. A tuple if gaps have two costs."""

    @property
    def gap_extend(self) -> int | tuple[int, int]:
        """Cost of each residue of a gap. A tuple if gaps have two costs."""

    @property
    def matrix(self) -> str | None:
        """Name of the matrix; None if match and mismatch have the scores."""

    @property
    def mode(self) -> Mode:
        """The ends of the sequences that are free: "local", "glocal", "global" or "overlap"."""

    @property
    def alphabet(self) -> Alphabet:
        '''"dna" or "protein".'''

    def score(self, query: str, target: str) -> int:
        """The score of two residues."""

    def gap_cost(self, length: int) -> int:
        """The cost of a gap of ``length`` residues."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...

@final
class Database:
    """The sequences that queries are aligned with.

    A database is built from sequences: str, bytes, bytearray, NumPy arrays of uint8, pairs of a name and a sequence,
    records of Biopython or pysam, or a mapping from names to sequences. Sequences without a name are named by their
    index: "0", "1". It can also be read from a file, given as pathlib.Path or to ``Database.from_file``: FASTA or
    FASTQ, plain or gzipped, or a database file that ``swalign index`` built. Threads and aligners may share a
    database.

    The alphabet, DNA or protein, is detected from the residues, as in the command, unless ``alphabet`` is given.
    Short sequences of A, C, G and T are ambiguous, and a UserWarning reports how they are read.

    A database file is memory-mapped as long as a database or an aligner uses it. On Unix, the first database file
    installs a handler for SIGBUS, so that a truncated file raises an error instead of ending the process.

    >>> from pyswalign import Database
    >>> database = Database({"chr1": "ACGTTGCA", "chr2": "GATTACA"})
    >>> len(database), database.names, database.length(1), database.alphabet
    (2, ['chr1', 'chr2'], 7, 'dna')
    >>> database.sequence(0, 2, 5)
    'GTT'
    """

    def __new__(cls, sequences: str | Sequences, *, alphabet: Alphabet | None = None) -> Database: ...
    @staticmethod
    def from_file(path: str | PathLike[str], *, alphabet: Alphabet | None = None) -> Database:
        """Reads a FASTA or FASTQ file, plain or gzipped, or opens a database file that ``swalign index`` built.

        Here, a str is the path of the file.
        """

    def __len__(self) -> int: ...
    @property
    def names(self) -> list[str]:
        """Names of the sequences, in order."""

    @property
    def alphabet(self) -> Alphabet:
        '''"dna" or "protein".'''

    def name(self, index: int) -> str:
        """Returns the name of the sequence at ``index``, from 0; -1 is the last sequence."""

    def length(self, index: int) -> int:
        """Returns the number of residues of the sequence at ``index``."""

    def sequence(self, index: int, start: int = 0, end: int | None = None) -> str:
        """Returns residues ``start`` to ``end`` of the sequence at ``index``, in upper case. In DNA, U becomes T."""

@final
class Hit:
    """An alignment of a query with a target.

    Positions are 0-based and half-open. On strand -1, the reverse complement of the query is aligned, but positions in
    the query still refer to the query as given. CIGARs are in the direction of the target, as in SAM. ``print(hit)``
    shows the alignment.

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
        """Score of the alignment."""

    @property
    def evalue(self) -> float | None:
        """E-value: the number of alignments with at least this score that are expected by chance, in the whole database
        for an Aligner, or between the two sequences of a pair. None in modes other than local, and if the scoring
        has no E-values.
        """

    @property
    def bits(self) -> float | None:
        """Bit score; None if there is no E-value."""

    @property
    def query_name(self) -> str | None:
        """Name of the query; None if it has no name."""

    @property
    def target_name(self) -> str:
        """Name of the target."""

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
        """Number of residues of the query."""

    @property
    def target_start(self) -> int:
        """Position of the first aligned residue of the target, from 0."""

    @property
    def target_end(self) -> int:
        """Position after the last aligned residue of the target."""

    @property
    def target_length(self) -> int:
        """Number of residues of the target."""

    @property
    def strand(self) -> Literal[1, -1]:
        """1 if the query is aligned as given, -1 if its reverse complement is aligned."""

    @property
    def cigar(self) -> str:
        """CIGAR as in the command's SAM, without clipping. Same as ``cigar_basic``."""

    @property
    def cigar_basic(self) -> str:
        """CIGAR with M (match or mismatch), I (only in the query) and D (only in the target)."""

    @property
    def cigar_extended(self) -> str:
        """CIGAR with = (match), X (mismatch), I (only in the query) and D (only in the target)."""

    @property
    def cigar_list(self) -> list[tuple[int, str]]:
        """``cigar`` as a list of pairs of a length and an operation."""

    @property
    def matches(self) -> int:
        """Number of columns with equal residues. In DNA, ambiguous codes such as N never count as equal."""

    @property
    def edits(self) -> int:
        """Number of columns that are not matches: mismatches, insertions and deletions."""

    @property
    def columns(self) -> int:
        """Number of columns of the alignment, gaps included."""

    @property
    def identity(self) -> float:
        """``matches`` divided by ``columns``, from 0 to 1."""

    @property
    def alphabet(self) -> Alphabet:
        '''"dna" or "protein".'''

    @property
    def aligned(self) -> tuple[str, str, str]:
        """The three rows of the alignment in the direction of the query: the query with gaps, the middle row (| for
        matches in DNA, residues and + in proteins), and the target with gaps.
        """

    def _repr_html_(self) -> str: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...

@final
class Match:
    """An occurrence of a pattern in a text, with its edits.

    ``start`` and ``end`` are positions in the target, 0-based and half-open. On strand -1, the target contains the
    reverse complement of the pattern. CIGARs are in the direction of the target.
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
        """Name of the pattern."""

    @property
    def target_name(self) -> str:
        """Name of the target."""

    @property
    def pattern_index(self) -> int:
        """Index of the pattern in the searcher, from 0."""

    @property
    def target_index(self) -> int:
        """Index of the target in the database or among the texts, from 0."""

    @property
    def start(self) -> int:
        """Position of the first base of the match in the target, from 0."""

    @property
    def end(self) -> int:
        """Position after the last base of the match in the target."""

    @property
    def strand(self) -> Literal[1, -1]:
        """1 if the target contains the pattern as given, -1 if it contains the reverse complement."""

    @property
    def edits(self) -> int:
        """Number of edits."""

    @property
    def cigar(self) -> str:
        """CIGAR with = and X, as in the command's table. Same as ``cigar_extended``."""

    @property
    def cigar_basic(self) -> str:
        """CIGAR with M (match or mismatch), I (only in the pattern) and D (only in the target)."""

    @property
    def cigar_extended(self) -> str:
        """CIGAR with = (match), X (mismatch), I (only in the pattern) and D (only in the target)."""

    @property
    def cigar_list(self) -> list[tuple[int, str]]:
        """``cigar`` as a list of pairs of a length and an operation."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...

@final
class Amplicon:
    """The part of a text between two primers that face each other, from the start of the primer on the forward strand
    to the end of the primer on the reverse strand.

    Positions are in the target, 0-based and half-open. The amplicon includes both primers.
    """

    @property
    def target_name(self) -> str:
        """Name of the target."""

    @property
    def target_index(self) -> int:
        """Index of the target in the database, from 0."""

    @property
    def pair_name(self) -> str | None:
        """Name of the pair: the common part of the two names, or both names, separated by a comma, if ``pairs`` is a
        list. None with ``pairs="any"``.
        """

    @property
    def start(self) -> int:
        """Position of the first base of the amplicon in the target, from 0."""

    @property
    def end(self) -> int:
        """Position after the last base of the amplicon in the target."""

    @property
    def strand(self) -> Literal[1, -1]:
        """1 if the first primer of the pair is on the forward strand of the target, -1 if it is on the reverse strand."""

    @property
    def forward_name(self) -> str:
        """Name of the primer on the forward strand, which begins at ``start``."""

    @property
    def forward_end(self) -> int:
        """Position after the last base of the primer on the forward strand."""

    @property
    def forward_edits(self) -> int:
        """Number of edits of the primer on the forward strand."""

    @property
    def reverse_name(self) -> str:
        """Name of the primer on the reverse strand, which ends at ``end``."""

    @property
    def reverse_start(self) -> int:
        """Position of the first base of the primer on the reverse strand."""

    @property
    def reverse_edits(self) -> int:
        """Number of edits of the primer on the reverse strand."""

    def __len__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...

@final
class HitIterator(Iterator[list[Hit]]):
    """An iterator over the lists of hits of queries."""

    def __iter__(self) -> HitIterator: ...
    def __next__(self) -> list[Hit]: ...

@final
class MatchIterator(Iterator[list[Match]]):
    """An iterator over the lists of matches of texts."""

    def __iter__(self) -> MatchIterator: ...
    def __next__(self) -> list[Match]: ...

@final
class PairIterator(Iterator[Hit | None]):
    """An iterator over the hits of pairs."""

    def __iter__(self) -> PairIterator: ...
    def __next__(self) -> Hit | None: ...

@final
class Aligner:
    """Finds the best alignments of queries with the sequences of a database.

    The score of each hit is the true optimum. Hits do not depend on the device or the number of threads. Threads may
    share an aligner, and it releases the GIL while it works. ``database`` is a Database, or any argument that
    Database accepts. ``device`` is "auto" (the best GPU, or the CPU if there is no GPU or it fails), "cpu", "gpu",
    or one GPU as in "gpu:0". The scoring is a ``preset`` and parameters that override it (``match``, ``mismatch``,
    ``ambiguous``, ``iupac``, ``end_bonus``, ``gap_open``, ``gap_extend``, ``matrix``, ``mode``), or a ``scoring``. A
    hit scores at least ``min_score`` (by default 20 matches, or 60 with a matrix; any score in modes other than
    local), and at least ``secondary_ratio`` times the best score of its query. ``filter=False`` disables the
    lossless filter: the hits stay the same, only the time changes.

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
        scoring: Scoring | None = None,
        preset: Preset | None = None,
        match: int | None = None,
        mismatch: int | None = None,
        ambiguous: int | None = None,
        iupac: bool = False,
        end_bonus: int | None = None,
        gap_open: int | tuple[int, int] | None = None,
        gap_extend: int | tuple[int, int] | None = None,
        matrix: str | PathLike[str] | tuple[str, str] | None = None,
        mode: Mode | None = None,
        alphabet: Alphabet | None = None,
    ) -> Aligner: ...
    def align(self, query: Sequence) -> list[Hit]:
        """Returns at most ``max_hits`` hits of one query, best first. A str is a sequence.

        The first hit is the alignment with the highest score over all targets and strands. Each further hit is the
        best alignment that overlaps no earlier hit on the same target and strand. The list is empty if no alignment
        reaches ``min_score``.
        """

    def align_batch(self, queries: Sequences) -> HitIterator:
        """Returns an iterator over the lists of hits of the queries, in the order of the queries.

        Queries are any iterable of sequences, a mapping from names to sequences, or the pathlib.Path of a FASTA or
        FASTQ file. The iterator reads at most 4,096 queries ahead. If a query is invalid, the iterator raises an
        error for it, and then continues with the next query. An error in the format of a file ends the iterator.
        """

    def score_matrix(
        self, queries: Database | Sequences, targets: str | Database | Sequences | None = None
    ) -> numpy.typing.NDArray[numpy.int32]:
        """Returns the best score of each query against each target as a NumPy array of int32, with one row per query
        and one column per target.

        The targets are the sequences of the database, unless ``targets`` is given. In local mode, the score is 0 if
        no alignment has a positive score.
        """

    def search(
        self,
        patterns: Letters | Sequences,
        k: int = 0,
        *,
        rate: float | None = None,
        indels: bool = True,
        both_strands: bool = True,
        strand: Literal[1, -1] | None = None,
        circular: bool = False,
        every_end: bool = False,
        best: bool = False,
        first: bool = False,
        pam: str | None = None,
        pam_side: Literal[3, 5] = 3,
        max_insertions: int | None = None,
        max_deletions: int | None = None,
        max_substitutions: int | None = None,
        max_gaps: int | None = None,
    ) -> list[Match]:
        """Finds all occurrences of patterns in the sequences of the database. Returns a list of Match, sorted by
        target, start and end.

        The parameters are those of a Searcher, except ``device``. A Searcher also searches texts outside a database.

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
        """The scoring."""

    @property
    def device(self) -> str:
        """Name of the device in use, such as "GPU NVIDIA H100" or "CPU (2 threads, avx512)"."""

@final
class Searcher:
    """Finds all occurrences of patterns in texts, with a limited number of edits.

    Patterns are sequences of IUPAC codes (R matches A and G), with or without names, a mapping from names to
    sequences, or the pathlib.Path of a FASTA or FASTQ file. A match has at most ``k`` edits, or at most ``rate``
    times the length of its pattern, rounded down. An edit is a substitution, an insertion (a base only in the
    pattern) or a deletion (a base only in the text). With ``indels=False``, a match has only substitutions.
    ``max_insertions``, ``max_deletions``, ``max_substitutions`` and ``max_gaps`` (insertions and deletions together)
    limit the edits of each kind.

    An end position is a match if it has no edits, or if its number of edits is a local minimum. ``every_end``
    reports every end position within the limits. ``best`` reports only the matches with the fewest edits in each
    text, and ``first`` only the first match of each text. ``pam`` reports only matches next to this PAM, in IUPAC
    codes, on the 3' side of the pattern, or on its 5' side with ``pam_side=5``. ``both_strands`` also searches the
    reverse complements of the patterns, and ``strand=-1`` searches only these. With ``circular``, the last base of
    each text is followed by its first: a match or amplicon across the origin ends after the length of its text.

    Threads may share a searcher. ``device`` is as in Aligner, but "auto" selects the CPU if it is faster for these
    patterns.

    >>> from pyswalign import Searcher
    >>> searcher = Searcher({"site": "GATTACA"}, k=1, device="cpu")
    >>> [(m.pattern_name, m.start, m.end, m.strand, m.edits, m.cigar) for m in searcher.search("CCGATACACCTGTAATCCC")]
    [('site', 2, 8, 1, 1, '2=1I4='), ('site', 10, 17, -1, 0, '7=')]
    >>> Searcher("GATTACA", rate=0.15, first=True, device="cpu").search("CCGATACACCTGTAATCCC")
    [<Match 0 0:2-8 + edits=1 2=1I4=>]
    """

    def __new__(
        cls,
        patterns: Letters | Sequences,
        k: int = 0,
        *,
        rate: float | None = None,
        indels: bool = True,
        both_strands: bool = True,
        strand: Literal[1, -1] | None = None,
        circular: bool = False,
        every_end: bool = False,
        best: bool = False,
        first: bool = False,
        pam: str | None = None,
        pam_side: Literal[3, 5] = 3,
        max_insertions: int | None = None,
        max_deletions: int | None = None,
        max_substitutions: int | None = None,
        max_gaps: int | None = None,
        device: str = "auto",
    ) -> Searcher: ...
    def search(self, text: Sequence) -> list[Match]:
        """Returns the matches in one text, sorted by start and end. A str is a sequence."""

    def search_batch(self, texts: Sequences) -> MatchIterator:
        """Returns an iterator over the lists of matches of the texts, in the order of the texts.

        Texts are any iterable of sequences, a mapping from names to sequences, or the pathlib.Path of a FASTA or
        FASTQ file. The iterator reads at most 4,096 texts ahead. If a text is invalid, the iterator raises an error
        for it, and then continues with the next text. An error in the format of a file ends the iterator.
        """

    def search_database(self, database: Database) -> list[Match]:
        """Returns the matches in all sequences of a database, sorted by target, start and end."""

    def amplicons(
        self,
        text: Database | Sequence,
        pairs: Literal["names", "any"] | list[tuple[str, str]] | None = None,
        *,
        min_length: int = 1,
        max_length: int = 4000,
    ) -> list[Amplicon]:
        """Returns the amplicons in one text or in all sequences of a database, sorted by target, start and end.

        The two patterns of an amplicon are a pair. One matches on the forward strand. The other matches on the
        reverse strand, and starts and ends no earlier. An amplicon has ``min_length`` to ``max_length`` bases, both
        primers included. With ``pairs="names"``, the default, the names of a pair end in _LEFT and _RIGHT, _F and
        _R, or /1 and /2. With ``pairs="any"``, each pattern pairs with every pattern. ``pairs`` can also be a list
        of pairs of names. The searcher must search both strands, without ``best`` and ``first``.

        >>> from pyswalign import Searcher
        >>> searcher = Searcher({"16S_F": "GATTACA", "16S_R": "CCATGGC"}, device="cpu")
        >>> searcher.amplicons("TTGATTACAGGAGGAGCCATGGTT")
        [<Amplicon 0:2-22 + 16S_F 16S_R>]
        """

    @property
    def device(self) -> str:
        """Name of the device in use, such as "GPU NVIDIA H100" or "CPU (2 threads, avx512)"."""

def align(
    query: Sequence,
    target: Sequence,
    *,
    both_strands: bool = False,
    min_score: int | None = None,
    scoring: Scoring | None = None,
    preset: Preset | None = None,
    match: int | None = None,
    mismatch: int | None = None,
    ambiguous: int | None = None,
    iupac: bool = False,
    end_bonus: int | None = None,
    gap_open: int | tuple[int, int] | None = None,
    gap_extend: int | tuple[int, int] | None = None,
    matrix: str | PathLike[str] | tuple[str, str] | None = None,
    mode: Mode | None = None,
    alphabet: Alphabet | None = None,
) -> Hit | None:
    """Returns the best alignment of a query with a target, or None if no alignment reaches ``min_score``. In local
    mode, ``min_score`` is 1 by default; the other modes have no minimum, but an empty sequence has no alignment.

    Both arguments are sequences: str, bytes, bytearray, NumPy arrays of uint8, pairs of a name and a sequence, or
    records of Biopython or pysam. The alphabet, DNA or protein, is detected from the residues, unless ``alphabet``
    is given. If short sequences could be both, the scoring determines it, such as ``preset`` or ``matrix``. The
    reverse complement of the query is aligned only if ``both_strands`` is True. The alignment runs on the CPU. For
    many pairs, ``align_pairs`` is faster.

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
    scoring: Scoring | None = None,
    preset: Preset | None = None,
    match: int | None = None,
    mismatch: int | None = None,
    ambiguous: int | None = None,
    iupac: bool = False,
    end_bonus: int | None = None,
    gap_open: int | tuple[int, int] | None = None,
    gap_extend: int | tuple[int, int] | None = None,
    matrix: str | PathLike[str] | tuple[str, str] | None = None,
    mode: Mode | None = None,
    alphabet: Alphabet | None = None,
) -> PairIterator:
    """Returns an iterator over the best alignment of each pair of a query and a target, in the order of the pairs. The
    iterator yields None for a pair without a hit.

    Pairs are any iterable of two sequences each, which may be endless. The iterator reads at most 4,096 pairs ahead.
    If a pair is invalid, the iterator raises an error for it, and then continues with the next pair. ``device`` is
    as in Aligner. The first of the first 32 pairs that is certainly DNA or certainly protein determines the alphabet
    of all pairs, unless ``alphabet``, ``preset`` or ``matrix`` determines it. A later pair that contradicts it is an
    error.

    >>> import pyswalign
    >>> pairs = [("ACGTTGCA", "TTACGTTGGCATT"), ("GATTACA", "GATTTACA")]
    >>> [hit.score for hit in pyswalign.align_pairs(pairs, preset="long", device="cpu")]
    [12, 10]
    """

def _hit(state: tuple[Any, ...]) -> Hit:
    """Restores a pickled hit."""

def _amplicon(state: tuple[Any, ...]) -> Amplicon:
    """Restores a pickled amplicon."""

def _scoring(keywords: dict[str, Any]) -> Scoring:
    """Makes a pickled scoring anew."""

def _align_again(query: Sequence, target: Sequence, scoring: Scoring, count: int) -> None:
    """Aligns one pair `count` times in a single call, for benchmarks/pairs.py."""
