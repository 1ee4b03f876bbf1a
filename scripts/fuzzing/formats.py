"""Reads BAM as the lines of SAM that it stands for."""

import gzip
import struct
import zlib

LETTERS, OPERATIONS = "=ACMGRSVTWYHKDBN", "MIDNSHP=X"
# BAM's number types, as format characters of the module struct.
NUMBERS = {"c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I"}


def bam_lines(data):
    """Header lines and record lines. What is no BAM is a ValueError."""
    try:
        return read_bam(data)
    except (EOFError, OSError, IndexError, struct.error, zlib.error) as error:
        raise ValueError(error) from None


def read_bam(data):
    if not data.endswith(bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")):
        raise ValueError("no end-of-file block")
    data = gzip.decompress(data)
    if data[:4] != b"BAM\1":
        raise ValueError("no magic number")
    size = struct.unpack_from("<i", data, 4)[0]
    header, at = data[8 : 8 + size].decode().splitlines(), 8 + size
    names, count, at = [], struct.unpack_from("<i", data, at)[0], at + 4
    for _ in range(count):
        size = struct.unpack_from("<i", data, at)[0]
        names.append((data[at + 4 : at + 3 + size].decode(), struct.unpack_from("<i", data, at + 4 + size)[0]))
        at += 8 + size
    listed = [tuple(field[3:] for field in line.split("\t")[1:3]) for line in header if line.startswith("@SQ")]
    if listed != [(name, str(len)) for name, len in names]:
        raise ValueError("the list of references is not that of the header")
    lines = []
    while at < len(data):
        size = struct.unpack_from("<i", data, at)[0]
        lines.append(bam_line(data[at + 4 : at + 4 + size], names))
        at += 4 + size
    return header, lines


def bin_of(start, end):
    """The bin of an interval, as the SAM specification computes it."""
    for shift, first in ((14, 4681), (17, 585), (20, 73), (23, 9), (26, 1)):
        if start >> shift == (end - 1) >> shift:
            return first + (start >> shift)
    return 0


def bam_line(data, names):
    fixed = struct.unpack_from("<iiBBHHHiiii", data)
    target, place, name_len, quality, bin, operations, flag, letters, *mate = fixed
    at = 32 + name_len
    name = data[32 : at - 1].decode()
    words = [struct.unpack_from("<I", data, at + 4 * k)[0] for k in range(operations)]
    at += 4 * operations
    sequence = "".join(LETTERS[byte >> 4] + LETTERS[byte & 15] for byte in data[at : at + (letters + 1) // 2])[:letters]
    at += (letters + 1) // 2
    values = data[at : at + letters]
    at += letters
    reach = sum(word >> 4 for word in words if OPERATIONS[word & 15] in "MDN=X")
    if bin != (bin_of(place, place + max(1, reach)) if target >= 0 else 4680):
        raise ValueError(f"{name}: the bin is {bin}")
    mate_target, mate_place, template = mate
    if mate_target < 0 and (mate_place, template) != (-1, 0) or flag & 1 == 0 and mate_target >= 0:
        raise ValueError(f"{name}: the place of a mate that has none, or is none: {mate}")
    next_name = "*" if mate_target < 0 else "=" if mate_target == target else names[mate_target][0]
    tags = []
    while at < len(data):
        tag, kind = data[at : at + 2].decode(), chr(data[at + 2])
        at += 3
        if kind == "Z":
            end = data.index(0, at)
            tags.append(f"{tag}:Z:{data[at:end].decode()}")
            at = end + 1
        else:
            tags.append(f"{tag}:i:{struct.unpack_from('<' + NUMBERS[kind], data, at)[0]}")
            at += struct.calcsize(NUMBERS[kind])
    values = "*" if not values or values[0] == 255 else "".join(chr(value + 33) for value in values)
    cigar = "".join(f"{word >> 4}{OPERATIONS[word & 15]}" for word in words)
    fields = name, flag, names[target][0] if target >= 0 else "*", place + 1, quality, cigar or "*"
    fields = *fields, next_name, mate_place + 1, template
    return "\t".join(map(str, [*fields, sequence or "*", values, *tags]))
