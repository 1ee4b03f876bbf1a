"""Rust source files as tokens, with their functions, closures, patterns, matches and constants."""
import os
import pathlib
import re

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent / "src"

TOKEN = re.compile(r"""
    (?P<space>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<raw>b?r(?P<hashes>\#*)".*?"(?P=hashes))
  | (?P<str>b?"(?:[^"\\]|\\.)*")
  | (?P<char>b?'(?:[^'\\]|\\u\{[0-9a-fA-F]+\}|\\x[0-9a-fA-F]{2}|\\.)')
  | (?P<life>'[A-Za-z_]\w*)
  | (?P<ident>[A-Za-z_]\w*)
  | (?P<num>\d\w*(?:\.\d\w*)?)
  | (?P<op>=>|->|::|==|!=|<=|>=|&&|\|\||\.\.=|\.\.\.|\.\.|.)
""", re.X | re.S)
PAIRS = {"(": ")", "[": "]", "{": "}"}
CLOSED = set(PAIRS.values())


class Callable:
    """A function, method or closure."""

    def __init__(self, file, name, params, body, is_method=False, kind="", returns="", start=0):
        self.file, self.name, self.params, self.body = file, name, params, body
        self.is_method, self.kind, self.returns, self.start = is_method, kind, returns, start


class Binding:
    """A pattern, and the expression or the call whose value it has, in a stretch of a file."""

    def __init__(self, pattern, origin, start, end):
        self.pattern, self.origin, self.start, self.end = pattern, origin, start, end


class File:
    def __init__(self, path):
        self.path = path.relative_to(SOURCE).as_posix()
        self.text = path.read_text()
        text, line = self.text, 1
        self.tokens, self.lines = [], []
        for found in TOKEN.finditer(text):
            if found.lastgroup != "space" and not found["space"]:
                self.tokens.append(found.group())
                self.lines.append(line)
            line += found.group().count("\n")
        self.pair()
        self.drop_attributes()
        self.pair()
        self.functions, self.closures, self.bindings, self.arms, self.constants = [], [], [], {}, {}
        self.read()

    def pair(self):
        self.close, self.open, stack = {}, {}, []
        self.block_end = []
        for i, token in enumerate(self.tokens):
            if token in PAIRS:
                stack.append(i)
            elif token in CLOSED:
                begin = stack.pop()
                self.close[begin], self.open[i] = i, begin
        ends, at = [], []
        for i, token in enumerate(self.tokens):
            if token == "{":
                ends.append(self.close[i])
            at.append(ends[-1] if ends else len(self.tokens))
            if token == "}":
                ends.pop()
        self.block_end = at

    def drop_attributes(self):
        """Leaves out attributes, type arguments of calls (`::<T>`), and what is compiled only for tests."""
        keep, i, tokens = [], 0, self.tokens
        while i < len(tokens):
            if tokens[i] == "#" and tokens[i + 1] in "[!":
                bracket = i + 1 + (tokens[i + 1] == "!")
                if tokens[bracket] == "[":
                    is_test = tokens[bracket + 1:bracket + 4] in (["cfg", "(", "test"], ["test", "]"]) or tokens[bracket + 1] == "test"
                    i = self.close[bracket] + 1
                    if is_test:
                        while tokens[i] == "#":
                            i = self.close[i + 1] + 1
                        while tokens[i] not in "{;":
                            i = self.close.get(i, i) + 1
                        i = self.close.get(i, i) + 1
                    continue
            if tokens[i:i + 2] == ["::", "<"]:
                depth, i = 1, i + 2
                while depth:
                    depth += (tokens[i] == "<") - (tokens[i] == ">")
                    i += 1
                continue
            keep.append(i)
            i += 1
        self.lines = [self.lines[i] for i in keep]
        self.tokens = [tokens[i] for i in keep]

    def until(self, i, stops, end=None):
        """The first token of `stops` from i on, outside of brackets and closure parameters."""
        end = len(self.tokens) if end is None else end
        while i < end and self.tokens[i] not in stops and self.tokens[i] not in CLOSED:
            i = self.close.get(i, i) + 1
        return min(i, end, len(self.tokens) - 1)

    def split(self, i, j):
        """Ranges between commas."""
        parts, begin = [], i
        while i < j:
            if self.tokens[i] == "|" and self.starts_closure(i):
                i = self.until(i + 1, "|", j) + 1
                continue
            if self.tokens[i] == ",":
                parts.append((begin, i))
                begin = i + 1
            i = self.close.get(i, i) + 1
        return parts + [(begin, j)] * (begin < j)

    def starts_closure(self, i):
        return i == 0 or self.tokens[i - 1] in {"(", ",", "=", "=>", "{", ";", "return", "move"}

    def pattern(self, i, j):
        """A name, a list for a tuple, a dict for a struct, (name, pattern) for an enum's variant; else None."""
        while i < j and self.tokens[i] in {"&", "mut", "ref", "&&", "*"}:
            i += 1
        if i >= j:
            return None
        if j - i == 1:
            return self.tokens[i]
        if self.tokens[i] == "(" and self.close[i] == j - 1:
            return [self.pattern(*part) for part in self.split(i + 1, j - 1)]
        last = self.until(i, "({", j)
        if last < j and self.close[last] == j - 1 and re.match("[A-Z]", self.tokens[last - 1]):
            parts = self.split(last + 1, j - 1)
            if self.tokens[last] == "(" and len(parts) == 1:
                return (self.tokens[last - 1], self.pattern(*parts[0]))
            if self.tokens[last] == "{":
                fields = {}
                for a, b in parts:
                    colon = self.until(a, ":", b)
                    name = self.tokens[colon - 1]
                    fields[name] = self.pattern(colon + 1, b) if colon < b else name
                return fields
        return None

    def parameters(self, i, j):
        params, is_method = [], False
        for a, b in self.split(i, j):
            colon = self.until(a, ":", b)
            if "self" in self.tokens[a:colon]:
                is_method = True
            else:
                params.append(self.pattern(a, colon))
        return params, is_method

    def read(self):
        tokens, kinds = self.tokens, []
        for i, token in enumerate(tokens):
            while kinds and kinds[-1][0] <= i:
                kinds.pop()
            if token == "impl" and (i == 0 or tokens[i - 1] in {"}", ";", "unsafe", "{"}):
                begin = self.until(i, "{")
                head, depth, names = tokens[i + 1:begin], 0, []
                for word in head:
                    depth += (word == "<") - (word == ">")
                    if word == "for" and depth == 0:
                        names = []
                    elif depth == 0 and word[0].isalpha():
                        names.append(word)
                kinds.append((self.close.get(begin, i), names[-1] if names else ""))
            elif token == "fn" and tokens[i + 1][0].isalpha():
                at = self.until(i, "(")
                params, is_method = self.parameters(at + 1, self.close[at])
                begin = self.until(self.close[at] + 1, "{;")
                if tokens[begin] == "{":
                    returns = " ".join(tokens[self.close[at] + 1:begin])
                    kind = kinds[-1][1] if kinds else ""
                    self.add(Callable(self, tokens[i + 1], params, (begin + 1, self.close[begin]), is_method, kind, returns, i))
            elif token in {"|", "||"} and self.starts_closure(i):
                end = i if token == "||" else self.until(i + 1, "|")
                params, _ = self.parameters(i + 1, end) if token == "|" else ([], False)
                begin = end + 1
                if begin >= len(tokens):
                    continue
                stop = self.close[begin] + 1 if tokens[begin] == "{" else self.until_end(begin)
                before = i - 1 - (tokens[i - 1] == "move")
                name = tokens[before - 1] if tokens[before] == "=" and tokens[before - 2] == "let" else None
                self.add(Callable(self, name, params, (begin, stop), start=i), is_closure=True)
            elif token in {"const", "static"} and tokens[i + 1].isupper() and i + 2 < len(tokens) and tokens[i + 2] == ":":
                equals = self.until(i, "=;")
                if tokens[equals] == "=":
                    self.constants[tokens[i + 1]] = (equals + 1, self.until(equals, ";"))
            elif token == "let":
                self.let(i)
            elif token == "match":
                self.match(i)

    def until_end(self, i):
        """The end of an expression that begins at i: a comma, a semicolon or a closing bracket."""
        while i < len(self.tokens) and self.tokens[i] not in {",", ";", ")", "]", "}"}:
            i = self.close.get(i, i) + 1
        return i

    def add(self, callee, is_closure=False):
        (self.closures if is_closure else self.functions).append(callee)
        for index, pattern in enumerate(callee.params):
            self.bindings.append(Binding(pattern, (callee, index), *callee.body))

    def let(self, i):
        tokens, conditional = self.tokens, self.tokens[i - 1] in {"if", "while", "&&"}
        equals = self.until(i, "=;")
        if tokens[equals] != "=":
            return
        pattern = self.pattern(i + 1, self.until(i, ":", equals))
        if conditional:
            end = self.until(equals, {"{", "&&"})
            body = self.until(end, "{")
            span = (end, self.close.get(body, body))
        else:
            end = self.until(equals, ";")
            if isinstance(pattern, tuple) or pattern is None:
                end = self.until(equals, {";", "else"})
            span = (self.until(equals, ";"), self.block_end[i])
        self.bindings.append(Binding(pattern, (equals + 1, end), *span))

    def match(self, i):
        brace = self.until(i + 1, "{")
        if brace >= len(self.tokens):
            return
        arms, at, end = [], brace + 1, self.close[brace]
        while at < end:
            arrow = self.until(at, {"=>"}, end)
            guard = self.until(at, {"if"}, arrow)
            begin = arrow + 1
            if begin >= end:
                break
            stop = self.close[begin] + 1 if self.tokens[begin] == "{" else self.until_arm(begin, end)
            arms.append((begin, stop))
            self.bindings.append(Binding(self.pattern(at, guard), (i + 1, brace), guard, stop))
            at = stop + (stop < end and self.tokens[stop] == ",")
        self.arms[i] = arms

    def until_arm(self, i, end):
        for a, b in self.split(i, end):
            return b
        return end


FILES = [File(path) for path in sorted(SOURCE.rglob("*.rs")) if not re.search(r"(^|/)(tests?|oracle)(\.rs$|/)", path.relative_to(SOURCE).as_posix())]
FUNCTIONS = {}
for each in FILES:
    for function in each.functions:
        FUNCTIONS.setdefault(function.name, []).append(function)
CONSTANTS = {}
for each in FILES:
    for name, span in each.constants.items():
        CONSTANTS.setdefault(name, []).append((each, span))


def constant(file, name):
    """The file and the range of a constant that a file uses: its own, the one that it imports, or the nearest one. Or None."""
    if name in file.constants:
        return file, file.constants[name]
    imported = re.search(rf"use (?:crate|super)::([\w:]+)::(?:\{{[^}}]*\b)?{name}\b", file.text)
    home = imported[1].replace("::", "/") if imported else None
    known = CONSTANTS.get(name, [])
    exact = [known for known in known if home and re.search(rf"(^|/){home}\.rs$", known[0].path)]
    shared = lambda known: len(os.path.commonprefix([known[0].path.split("/"), file.path.split("/")]))
    return max(exact or known, key=shared, default=None)


def callee(file, i):
    """The function, method or closure that the call at token i (its name) calls, or None."""
    name, before = file.tokens[i], file.tokens[i - 1] if i else ""
    closures = [c for c in file.closures if c.name == name and before not in {".", "::"} and c.body[1] <= i < file.block_end[c.start]]
    if closures:
        return closures[-1]
    count = len(file.split(i + 2, file.close[i + 1]))
    is_method = before == "."
    fits = [f for f in FUNCTIONS.get(name, []) if f.is_method == is_method and len(f.params) == count]
    if before == "::":
        qualifier = file.tokens[i - 2]
        kind = next((f.kind for f in file.functions if f.body[0] <= i < f.body[1]), "") if qualifier == "Self" else qualifier
        exact = [f for f in fits if f.kind == kind]
        if exact or re.match("[A-Z]", qualifier):
            return exact[0] if exact else None
        fits = [f for f in fits if not f.kind]
        near = [f for f in fits if pathlib.PurePath(f.file.path).stem == qualifier]
        return nearest(file, near or [f for f in fits if f.file is not file] or fits)
    if not is_method:
        fits = [f for f in fits if not f.kind]
    return next((f for f in fits if f.file is file), nearest(file, fits))


def nearest(file, functions):
    """The function whose file shares the most folders with another file; of several the first one. None if there is none."""
    shared = lambda f: len(os.path.commonprefix([f.file.path.split("/"), file.path.split("/")]))
    return max(functions, key=shared, default=None)


def sites(wanted):
    """The calls of a function or closure: its file, and the ranges of the arguments; or the receiver of `.map_err(name)`."""
    for file in [wanted.file] if wanted in wanted.file.closures else FILES:
        for i, token in enumerate(file.tokens):
            if token != wanted.name or i == wanted.start + 1:
                continue
            after = file.tokens[i + 1]
            if after == "(" and same(callee(file, i), wanted, file, i):
                yield file, file.split(i + 2, file.close[i + 1])
            elif after == ")" and file.tokens[i - 1] == "(" and file.tokens[i - 2] == "map_err":
                yield file, [("Err", receiver(file, i - 3))]


def same(found, wanted, file, i):
    """Methods of one name and number of arguments share their callers."""
    is_like = found and wanted.is_method and found.name == wanted.name and len(found.params) == len(wanted.params)
    return found is wanted or bool(is_like and file.tokens[i - 1] == ".")


def receiver(file, i):
    """The range before the `.` at i that the method is called on."""
    end = i
    i -= 1
    while i >= 0:
        token = file.tokens[i]
        if token == "}" and file.tokens[i + 1] not in {".", "?"}:
            break
        if i in file.open:
            i = file.open[i] - 1
            continue
        if token in {".", "::", "?", "!"} or re.match(r"[\w\"']", token) and token not in {"return", "match", "in", "if", "else", "move"}:
            i -= 1
            continue
        break
    return (i + 1, end)


def destructured(pattern, value, name):
    """The values of a name in a pattern that is matched with a value."""
    if pattern == name:
        yield value
    elif isinstance(pattern, tuple):
        wrapper, inner = pattern
        if isinstance(value, tuple) and value[0] == wrapper:
            yield from destructured(inner, value[1], name)
    elif isinstance(pattern, list):
        for at, inner in enumerate(pattern):
            if isinstance(value, list) and at < len(value):
                yield from destructured(inner, value[at], name)
    elif isinstance(pattern, dict):
        for field, inner in pattern.items():
            if isinstance(value, dict) and field in value:
                yield from destructured(inner, value[field], name)


def names_of(pattern):
    if isinstance(pattern, str):
        return {pattern}
    if isinstance(pattern, tuple):
        return names_of(pattern[1])
    if isinstance(pattern, list):
        return set().union(*map(names_of, pattern), set())
    return set().union(*map(names_of, pattern.values()), set()) if isinstance(pattern, dict) else set()


def tail(file, i, j):
    """The last expression of a block."""
    at, begin = i, i
    while at < j:
        token = file.tokens[at]
        if token == ";":
            begin = at + 1
        elif token == "{" and begin < at and file.tokens[begin] in {"if", "match", "for", "while", "loop", "unsafe", "const", "fn", "struct", "impl", "enum"}:
            end = file.close[at] + 1
            if end < j and file.tokens[end] not in {"else", ".", "?", ";"} and file.tokens[begin] in {"if", "match", "for", "while", "loop", "fn", "struct", "impl", "enum"}:
                begin = end
        at = file.close.get(at, at) + 1
    return (begin, j)
