#!/usr/bin/env python3
"""Makes docs/messages.md, the list of errors and warnings, from the string literals in src/.

    scripts/messages.py            writes it
    scripts/messages.py --check    exit code 1 if the page is out of date

Either way the exit code is 1 if the message of a call in `SINKS` was not found. Then teach scripts/rust_text/ the new pattern.
No Rust is needed.
"""
import pathlib
import re
import sys

from rust_text import FILES, Hole, Reader, Text, receiver, text_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "messages.md"

# Constructors of messages: the end of the path, the kind of the message, and the index of the argument that is its
# text, or those of its problem and its remedy.
SINKS = [
    ("Error :: Usage", "error", [0]),
    ("Error :: input", "error", [1, 2]),
    ("clap :: Error :: raw", "error", [1]),
    ("EngineError :: NoDevice", "error", [0]),
    ("EngineError :: Threads", "error", [0]),
    ("EngineError :: Unsupported", "unsupported", [0]),
    ("DamagedBam", "error", [0]),
    ("io :: Error :: new", "error", [1]),
    ("io :: Error :: other", "error", [0]),
    ("warn", "warning", [1]),
    ("notice = Some", "warning", [0]),
    ("reporter . note", "note", [0]),
]
SINKS = [(path.split(), kind, arguments) for path, kind, arguments in SINKS]
# Functions that return messages: file, name, kind, and the text before the message.
ROOTS = [
    ("terms/error.rs", "remedy", "error", "\x01file\x02: \x01message\x02"),
    ("terms/error.rs", "remedy_of_code", "error", "\x01file\x02: \x01message\x02"),
    ("pipeline/remarks.rs", "unsplit", "note", ""),
    ("pipeline/remarks.rs", "too_short", "note", ""),
    ("pipeline/remarks.rs", "too_unlikely", "note", ""),
    ("input/reader.rs", "warnings", "warning", ""),
    ("terms/options/read_group.rs", "parse", "value", ""),
    ("terms/options/scoring.rs", "matrix_text", "error", ""),
]
# Fields of structs that are messages: file, field, kind, and whether the fields `options` and `commands` name the options that
# the message begins with, and the subcommands.
FIELDS = [
    ("cli/conflicts.rs", "text", "error", True),
    ("terms/options/mapper.rs", "remark", "warning", False),
]
# Calls that pass on a message from elsewhere, or that make no message: file, and the start of the argument's text.
PASSED_ON = [
    ("pipeline/remarks.rs", "text"),
    ("pipeline/setup.rs", "& text"),
    ("pipeline/intake.rs", "Some ( warning )"),
    ("pipeline", "source . warnings"),
    ("pipeline", "reader . warnings"),
    ("pipeline", "reads . warnings"),
    ("pipeline", "texts . warnings"),
    ("pipeline/search.rs", "warnings"),
    ("pipeline", "engine . take_notice"),
    ("pipeline", "self . engine . take_notice"),
    ("pipeline", "scan . take_notice"),
    ("pipeline/search/write.rs", "notice"),
    ("input/reader/bam.rs", "String"),
    ("input/reader/bam.rs", "DamagedBam ( text )"),
    ("input/reader/gunzip.rs", "Damaged ( error . to_string ( ) )"),
    ("input/reader/faults.rs", "damaged . to_string"),
]
# Files with messages that only pass on others, which are found where they are made.
WRAPPERS = {"cli/lanes.rs", "pipeline/audit/inputs.rs", "pipeline/device.rs", "pipeline/grep.rs", "pipeline/grep/scan.rs",
            "pipeline/grep/sought.rs", "pipeline/report.rs"}
# Files whose messages the command never prints: the library's interface, and checks of the program's own output.
NOT_SEEN = re.compile(r"^(api/|terms/error\.rs|terms/scoring\.rs|gpu/template)")
# Messages that are wrapped in others: file, the text before, and the text after.
WRAPPED = [
    ("input/reader/bam.rs", "", "copy or write the file again; check it with `samtools quickcheck`"),
    ("input/reader/mapped.rs", "", "copy or write the file again; check it with `samtools quickcheck`"),
    ("input/reader/bgzf.rs", "the gzip data is truncated or damaged (", "copy or compress the file again; check it with `gzip -t`"),
    ("input/reader/gunzip.rs", "the gzip data is truncated or damaged (", "copy or compress the file again; check it with `gzip -t`"),
    ("input/reader/share/feed.rs", "the gzip data is truncated or damaged (", "copy or compress the file again; check it with `gzip -t`"),
    ("output/writer/frame.rs", "a record is damaged (", "write this part again"),
]


# Messages of checks that cannot fail in the command.
NOT_REACHED = {"the output is closed already", "merge: no part was given", "some of its records have been read already",
               "a web page cannot wait for its GPU", "a profile kernel needs a matrix", "no kernels for databases"}


class Message:
    def __init__(self, file, kind, problem, remedy=""):
        self.file, self.kind, self.problem, self.remedy = file, kind, problem, remedy


def is_pattern(file, close):
    """Whether the constructor that ends here is a pattern."""
    after = {"=>", "|", "=", "if"}
    return file.tokens[close + 1] in after or file.tokens[close + 1] == ")" and file.tokens[close + 2] in after


def calls(file):
    """Constructors of messages in a file: kind, token, and the ranges of the texts."""
    tokens = file.tokens
    for i, token in enumerate(tokens):
        for path, kind, arguments in SINKS:
            begin = i + len(path)
            if tokens[i:begin] == path and tokens[i - 2:i] == ["map_err", "("] and tokens[begin] == ")":
                yield kind, i, [receiver(file, i - 3)]
            if tokens[i:begin] != path or tokens[begin] != "(" or tokens[i - 1] == "fn":
                continue
            args = file.split(begin + 1, file.close[begin])
            if len(args) > arguments[-1] and not is_pattern(file, file.close[begin]) and tokens[args[0][0]] != "_":
                yield kind, i, [args[n] for n in arguments]
        if token == "{" and re.match("[A-Z]", tokens[i - 1]) and tokens[i - 2] not in {"struct", "impl", "for", "->", "enum"}:
            fields = {tokens[a]: ((a + 2, b) if b > a + 1 else (a, b)) for a, b in file.split(i + 1, file.close[i])}
            is_type = "problem" in fields and tokens[fields["problem"][0]] == "String"
            if "problem" in fields and not is_type and not is_pattern(file, file.close[i]) and tokens[file.close[i] + 1] != ":":
                yield "error", i, [fields[name] for name in ("problem", "remedy") if name in fields]


def messages_of(file, reader, unknown):
    for kind, i, spans in calls(file):
        known = False
        for texts, _ in reader.together(file, spans, {}):
            texts = [text[1] if isinstance(text, tuple) else text for text in texts]
            if all(isinstance(text, str) and not isinstance(text, Hole) for text in texts):
                known = True
                home = getattr(texts[0], "file", "") or file.path
                for path, before, after in WRAPPED:
                    if home == path and len(texts) == 1:
                        texts = [before + texts[0] + (")" if before else ""), after]
                if kind == "unsupported":
                    texts.append("use --device cpu")
                yield Message(home, kind, *texts)
            elif all(isinstance(text, str) for text in texts) and {"problem", "remedy"} & set(map(str, texts)):
                # Problem and remedy both come from a value that is made elsewhere.
                known = True
        source = " ".join(file.tokens[spans[0][0]:spans[-1][1]])
        if not known and not any(file.path.startswith(path) and source.startswith(begin) for path, begin in PASSED_ON):
            unknown.append(f"src/{file.path}:{file.lines[i]}: {source}")


def strings(file, span):
    """The literals of an expression, or of the constant that it names."""
    i, j = span
    if j == i + 1 and file.tokens[i] in file.constants:
        return strings(file, file.constants[file.tokens[i]])
    return [text_of(token) for token in file.tokens[i:j] if token[0] == '"']


def messages_of_fields(file, reader, field, kind, has_options):
    """The messages in a field of each value of a struct."""
    for i, token in enumerate(file.tokens):
        if token != "{" or not re.match("[A-Z]", file.tokens[i - 1]) or file.tokens[i - 2] in {"struct", "impl", "for", "->", "enum"}:
            continue
        fields = {file.tokens[a]: (a + 2, b) for a, b in file.split(i + 1, file.close[i]) if file.tokens[a + 1] == ":"}
        for value, _ in reader.values(file, fields[field], {}) if field in fields else ():
            text, home = value[1] if isinstance(value, tuple) else value, file.path
            if not isinstance(text, Text):
                continue
            if has_options:
                *options, last = strings(file, fields["options"])
                text = f"{', '.join(options)} or {last} {text}" if options else f"{last} {text}"
                home = f"cli/{strings(file, fields['commands'])[0]}"
            yield Message(home, kind, text)


def all_messages():
    """Every message, and the calls whose message was not found."""
    reader, unknown, found = Reader(), [], []
    for file in FILES:
        if not NOT_SEEN.match(file.path):
            found += messages_of(file, reader, unknown)
        for function in file.functions:
            if file.path.startswith("cli") and re.search(r"Result <.*, String >", function.returns):
                errors = [value[1] for value in reader.returned(function, {}) if isinstance(value, tuple) and value[0] == "Err"]
                found += [Message("cli/values.rs", "value", text) for text in errors if isinstance(text, Text)]
            for path, name, kind, before in ROOTS:
                if (file.path, function.name) == (path, name):
                    returned = [text[1] if isinstance(text, tuple) else text for text in reader.returned(function, {})]
                    returned = [text[-1] if isinstance(text, list) else text for text in returned]
                    texts = [text for text in returned if isinstance(text, Text) and text]
                    found += [Message(path, kind, before, text.removeprefix("; ")) if before else Message(path, kind, text) for text in texts]
        for path, *fields in FIELDS:
            if file.path == path:
                found += messages_of_fields(file, reader, *fields)
    return found, unknown


# Sections of the page: the title, an introduction, and the files under src/ or the kinds whose messages it lists. A
# message belongs to the first section that matches.
SECTIONS = [
    ("Warnings", "A warning begins with `swalign: warning:`. The run continues.", ["warning"]),
    ("Values of options", "These follow `invalid value '...' for '--option'`. Exit code 2.", ["value"]),
    ("Options of search, grep, dedup and index", "Exit code 2.", ["cli/search", "cli/grep", "cli/dedup", "cli/index"]),
    ("Lanes and sample sheets", "A message about a sample sheet begins with the file, line and column. Exit code 2.",
     ["cli/lanes.rs", "terms/options/sample_sheet.rs"]),
    ("Standard output", "*cause* is the message of the operating system.", ["cli/stdout.rs"]),
    ("Options of alignment", "Exit code 2.", ["cli"]),
    ("Scoring schemes", "", ["terms/options/scoring.rs", "terms/scoring.rs", "pipeline/significance.rs", "align/significance"]),
    ("Databases", "", ["input/database", "pipeline/source.rs"]),
    ("Parts and merge", "", ["pipeline/merge", "pipeline/receipts.rs", "pipeline/remembered.rs"]),
    ("Patterns, primers and search", "", ["pipeline/search", "patterns/search", "input/reader/name_pairs.rs", "input/reader/texts.rs"]),
    ("Patterns of grep", "", ["pipeline/grep", "patterns/lines"]),
    ("Outputs", "The message begins with the file. *cause* is the message of the operating system.", ["output/writer"]),
    ("Devices and threads", "If a GPU was requested and cannot be opened, the message ends with `use --device cpu, or install the GPU's Vulkan "
     "driver and loader`.", ["engine", "gpu", "pipeline/device.rs", "pipeline/threads.rs", "pipeline/scanner.rs", "pipeline.rs"]),
    ("Files", "These follow the message of the operating system.", ["terms/error.rs"]),
    ("Sequences and references", "", [""]),
]
INTRODUCTION = """# Messages

This page lists the errors and warnings of the command. <!-- Generated by scripts/messages.py from src/; do not edit. -->

- An error begins with `swalign: error:` and ends the run. The exit code is 1, and 2 for wrong usage and in `swalign grep`.
- A message about a file begins with the file and, if they are known, the number and the name of the record, and the line:
  `reads.fq, record 3 'read3', line 9: `.
- Most messages have the form *problem; remedy*. Words in italics stand for names and numbers, and text in [brackets] is not
  always there.
- clap, the library that parses the command line, has messages of its own for unknown options and missing values.
- Three messages mean that a device failed: "the device is out of memory: ...", "the device was lost: ..." and "the device
  returned an impossible result: ...". Use another device (`--device`). For the first, a smaller `--batch` may help.
- "internal error: ..." is a bug in swalign. Please report it.
"""
CODE = re.compile(r"(`[^`]*`)")
OPTION = re.compile(r"(?<![\w\\[-])-(-[a-z][\w-]*|[a-zA-Z])(?![\w-])")


def markdown(text):
    """A message as Markdown: placeholders in italics, and everything else as it is printed."""
    pieces = []
    for piece in CODE.split(text.replace("\x02\x01", "\x02 \x01")):
        if piece.startswith("`"):
            pieces.append(re.sub("\x01([^\x02]*)\x02", lambda found: found[1].upper(), piece))
        else:
            piece = re.sub(r"([\\*_`])", r"\\\1", piece).replace("<", "&lt;")
            piece = OPTION.sub(lambda option: f"`{option[0]}`", piece)
            pieces.append(piece.replace("\x01", "*").replace("\x02", "*"))
    return "".join(pieces)


def is_wrapper(text):
    """Whether a message only passes on others."""
    rest = re.sub("\x01[^\x02]*\x02", "", text)
    return bool(re.search("\x01(problem|remedy|warning)\x02", text)) or not re.search("[a-z]{3}", rest) or text.startswith("\x01text\x02;")


def page(found, unknown):
    sections = {title: {} for title, _, _ in SECTIONS}
    for message in found:
        problem, kind = message.problem, message.kind
        if kind == "note":
            level, colon, problem = problem.partition(": ")
            if level not in {"warning", "error"}:
                continue
            kind = level
        problem, remedy = [*re.split(r"(?<!\[); ", f"{problem}; {message.remedy}".rstrip("; "), maxsplit=1), ""][:2]
        if is_wrapper(f"{problem}; {remedy}"):
            if message.file not in WRAPPERS:
                unknown.append(f"src/{message.file}: {markdown(problem)}")
            continue
        if problem in NOT_REACHED:
            continue
        for title, _, places in SECTIONS:
            if any(kind == place or message.file.startswith(place) and kind not in {"warning", "value"} for place in places):
                sections[title].setdefault(problem, {})[remedy] = None
                break
    text = INTRODUCTION
    for title, introduction, _ in SECTIONS:
        if not sections[title]:
            continue
        text += f"\n## {title}\n\n" + f"{introduction}\n\n" * bool(introduction)
        for problem in sorted(sections[title], key=lambda text: re.sub(r"[^a-z0-9 ]", "", text.lower())):
            remedies = [remedy for remedy in sections[title][problem] if remedy]
            if len(remedies) < 2:
                text += f"- {markdown('; '.join([problem, *remedies]))}\n"
            else:
                text += f"- {markdown(problem)};\n" + "".join(f"    - {markdown(remedy)}\n" for remedy in sorted(remedies))
    return text


def main():
    found, unknown = all_messages()
    text = page(found, unknown)
    for call in unknown:
        print(f"{call}: its message was not found; teach scripts/messages.py this pattern", file=sys.stderr)
    if "--check" in sys.argv[1:]:
        written = PAGE.read_text() if PAGE.exists() else ""
        if text != written:
            print(f"{PAGE.relative_to(ROOT)} is out of date: run scripts/messages.py", file=sys.stderr)
        sys.exit(bool(unknown) or text != written)
    PAGE.write_text(text)
    sys.exit(bool(unknown))


if __name__ == "__main__":
    main()
