#!/usr/bin/env python3
"""Cuts the tables of this folder out of the full set of expected results.

usage: make.py SOURCE
SOURCE holds oracle/, suites/, dna/ and matrices/ of the full set (README.md says what they are). Writes the
tables beside this script; the answers are copied, never computed, but for the number of optimal ends of the
windows in ssw.tsv, which a plain Gotoh counts here.
"""
import csv, gzip, os, re, sys

csv.field_size_limit(1 << 30)
SOURCE = sys.argv[1]
HERE = os.path.dirname(os.path.abspath(__file__))
MAX_CELLS = 4_000_000
GASAL_PAIRS = 500
COLUMNS = "pair scheme ambig qlen tlen local n_ends q_end t_end n_starts q_start t_start".split()
# Scores in other modes, where the source has them.
MODES = "global fit overlap".split()


def lines(path):
    path = f"{SOURCE}/{path}"
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as f:
        yield from (line.rstrip("\n") for line in f)


def fasta(path):
    records = {}
    for line in lines(path):
        if line.startswith(">"):
            name = line[1:].split()[0]
            records[name] = ""
        else:
            records[name] += line
    return records


def fastq(path):
    text = list(lines(path))
    return {text[i][1:].split()[0]: text[i + 1] for i in range(0, len(text), 4)}


def rows_of(path):
    return csv.DictReader(lines(path), delimiter="\t")


def write_table(name, rows):
    columns = COLUMNS + [mode for mode in MODES if mode in rows[0]]
    with open(f"{HERE}/{name}.tsv", "w") as f:
        f.write("\t".join(columns) + "\n")
        f.writelines("\t".join(str(row.get(column, ".")) for column in columns) + "\n" for row in rows)


def write_fasta(name, records):
    with open(f"{HERE}/{name}", "w") as f:
        f.writelines(f">{key}\n{sequence}\n" for key, sequence in records.items())


def write_pairs(name, rows, queries, targets):
    used = {row["pair"]: None for row in rows}
    write_table(name, rows)
    write_fasta(f"{name}.q.fa", {pair: queries[pair] for pair in used})
    write_fasta(f"{name}.t.fa", {pair: targets[pair] for pair in used})
    print(f"{name}: {len(rows)} rows, {len(used)} pairs")


def matrix_row(row):
    """Rows that need a DNA matrix: NUC.4.4, and one scheme of each other treatment of ambiguous letters."""
    return row["ambig"] == "nuc44" or (row["ambig"] in ("zero", "minus1") and row["scheme"] == "dna_mm2_2_4_o4e2")


def pair_tables():
    for kind in ("dna_pairs", "protein_pairs"):
        rows = [
            row
            for row in rows_of(f"oracle/{kind}.tsv")
            if (row["ambig"] in ("none", "mis") or matrix_row(row)) and int(row["qlen"]) * int(row["tlen"]) <= MAX_CELLS
        ]
        write_pairs(kind, rows, fasta(f"oracle/{kind}.q.fa"), fasta(f"oracle/{kind}.t.fa"))
    for folder, name in (("classic24", "NUC.4.4"), ("dna", "m2x4_zero"), ("dna", "m2x4_minus1")):
        with open(f"{HERE}/{name}", "w") as f:
            f.writelines(line + "\n" for line in lines(f"matrices/{folder}/{name}"))


def gasal2():
    queries = list(fasta("dna/pairs/gasal2_query150.fa.gz").values())
    targets = list(fasta("dna/pairs/gasal2_target250.fa.gz").values())
    rows, q, t = [], {}, {}
    for row in rows_of("oracle/gasal2_pairs.tsv.gz"):
        index = int(row["pair_index"])
        if index > GASAL_PAIRS:
            continue
        pair = f"g{index:04}"
        q[pair], t[pair] = queries[index - 1], targets[index - 1]
        rows.append(
            dict(
                pair=pair, scheme=row["scheme"], ambig="mis", qlen=len(q[pair]), tlen=len(t[pair]), local=row["local"],
                n_ends=row["n_ends"], q_end=row["q_end_first"], t_end=row["t_end_first"],
            )
        )
    write_pairs("gasal2", rows, q, t)


def reverse_complement(sequence):
    return sequence[::-1].translate(str.maketrans("ACGT", "TGCA"))


def reads_and_genome():
    """All rows of the 50 reads in data/ont_sars2.fq.gz."""
    rows = []
    for row in rows_of("oracle/read_vs_genome.tsv"):
        if "sars2" in row["genome_file"]:
            rows.append(
                dict(
                    pair=row["read"] + row["strand"], scheme=row["scheme"], ambig="mis", qlen=row["qlen"], tlen=29903,
                    local=row["local"], n_ends=row["n_ends"], q_end=row["q_end_first"], t_end=row["t_end_first"],
                )
            )
    write_table("reads_sars2", rows)
    print(f"reads_sars2: {len(rows)} rows")


def ends(query, target, match, mismatch, first, extend):
    """Plain Gotoh: the best local score and all its (query end, target end)."""
    far = -(10**9)
    h, f = [0] * (len(target) + 1), [far] * (len(target) + 1)
    best, cells = 0, []
    for i, a in enumerate(query, 1):
        e, diagonal = far, 0
        for j, b in enumerate(target, 1):
            e = max(e - extend, h[j - 1] - first)
            f[j] = max(f[j] - extend, h[j] - first)
            value = max(0, diagonal + (match if a == b and a in "ACGT" else -mismatch), e, f[j])
            diagonal, h[j] = h[j], value
            if value > best:
                best, cells = value, []
            if value == best > 0:
                cells.append((i, j))
    return best, cells


def ssw():
    """Windows of 200 around the ends that SSW reports in 1 Mb. A window holds the whole of an optimal alignment
    (54 letters cannot span more than 160), so the best score inside is the best of the whole."""
    genome = "".join(fasta("suites/ssw/chr3_1M.fa.gz").values()).upper()
    reads = fastq("suites/ssw/54mer_100.fq")
    text = "\n".join(lines("suites/ssw/expected_2_2_3_1.txt"))
    record = re.compile(
        r"query_name: (\S+)\noptimal_alignment_score: (\d+)\s+suboptimal_alignment_score: \d+\s+strand: (.)\s+"
        r"target_end: (\d+)\s+query_end: (\d+)"
    )
    rows, q, t = [], {}, {}
    for index, (name, score, strand, t_end, q_end) in enumerate(record.findall(text), 1):
        pair, start = f"s{index:04}", max(0, int(t_end) - 170)
        read = reads[name].upper()
        q[pair] = reverse_complement(read) if strand == "-" else read
        t[pair] = genome[start : start + 200]
        best, cells = ends(q[pair], t[pair], 2, 2, 3, 1)
        assert best == int(score) and (int(q_end), int(t_end) - start) in cells, (name, best, cells)
        rows.append(
            dict(
                pair=pair, scheme="dna_ssw_2_2_first3_e1", ambig="mis", qlen=len(q[pair]), tlen=len(t[pair]), local=score,
                n_ends=len(cells), q_end=q_end, t_end=int(t_end) - start,
            )
        )
    write_pairs("ssw", rows, q, t)


def small_suites():
    """SeqAn3's unbanded local cases, and EMBOSS' own tests of water that whole numbers can express."""
    rows, q, t = [], {}, {}
    for row in rows_of("suites/seqan3_affine.tsv"):
        if row["mode"] == "local" and row["band"] == "unbanded":
            pair = "seqan3_" + row["name"]
            # SeqAn3 scores O as X.
            q[pair], t[pair] = (row[of].replace("O", "X") for of in ("seq1", "seq2"))
            a, _, b = row["match/mismatch"].partition("/-")
            first, extend = row["gap_first"], row["gap_ext"]
            scheme = f"dna_{a}_{b}_first{first}_e{extend}" if b else f"b62_first{first}_e{extend}"
            rows.append(
                dict(pair=pair, scheme=scheme, ambig="mis", qlen=len(q[pair]), tlen=len(t[pair]), local=row["score"])
            )
    inputs = list(fasta("suites/emboss_qatest_inputs.fa").items())
    alone = {name.lower(): sequence for name, sequence in inputs}
    full, b, part = (next(s for n, s in alone.items() if key in n) for key in ("afull", "bfull", "apart"))
    for row in rows_of("suites/emboss_qatest_water_needle.tsv"):
        options = row["options"]
        if row["program"] != "water" or not row["score"] or "srev" in options or "hba" in options:
            continue
        pair = "emboss_" + row["id"]
        if "asis" in options:
            first, second = re.findall(r"asis:+(\w+)", options)
        else:
            first, second = full, part if "alignapart" in row["inputs"] else b
            number = {k: int(v) for k, v in re.findall(r"-(s(?:begin|end)[12]) (-?\d+)", options)}
            cut = lambda s, k: s[number.get(f"sbegin{k}", 1) - 1 : (number.get(f"send{k}", -1)) % (len(s) + 1)]
            first, second = cut(first, 1), cut(second, 2)
        gap = {k: int(v) for k, v in re.findall(r"-gap(open|extend|ext) (\d+)", options)}
        q[pair], t[pair] = first, second
        rows.append(
            dict(
                pair=pair, scheme=f"dna_5_4_first{gap['open']}_e{gap.get('extend', gap.get('ext'))}", ambig="mis",
                qlen=len(first), tlen=len(second), local=int(float(row["score"])),
            )
        )
    for row in rows:
        if row["scheme"].startswith("dna"):
            a, b, first, extend = map(int, re.findall(r"\d+", row["scheme"]))
            pair = row["pair"]
            to_dna = lambda s: s.upper().replace("U", "T")
            best, cells = ends(to_dna(q[pair]), to_dna(t[pair]), a, b, first, extend)
            assert best == int(row["local"]), (row, best)
            if cells:
                row["n_ends"], (row["q_end"], row["t_end"]) = len(cells), cells[0]
    write_pairs("small", rows, q, t)


if __name__ == "__main__":
    pair_tables()
    gasal2()
    reads_and_genome()
    ssw()
    small_suites()
