"""The texts that expressions of Rust source may have."""
import itertools
import re

from .files import CONSTANTS, PAIRS, Callable, callee, constant, destructured, names_of, receiver, sites, tail

# Methods that keep the text.
SAME = {"to_string", "to_owned", "into", "clone", "as_str", "as_ref", "unwrap_or_default", "into_owned", "trim", "iter", "copied",
        "into_iter", "flatten", "as_deref", "ok", "collect", "peekable", "next"}
# Parameters of these names are followed to callers, if they are a part of a message.
FOLLOWED = {"problem", "text", "remedy", "why", "what", "rule"}
# Functions whose text is a number with its unit, and functions that pass on messages of other calls.
NOT_FOLLOWED = {"counted", "queries_are", "possible", "shown", "described", "named", "warnings", "take_notice"}
WRAPPERS = {"Some", "Ok", "Err"}


class Hole(str):
    """The name of a value that is known only when the program runs."""


class Text(str):
    """A literal, with the file that has it."""

    file = ""

    @classmethod
    def of(cls, text, file):
        text = cls(text)
        text.file = file.path
        return text


def text_of(token):
    """The value of a string literal; None for bytes."""
    if token.startswith("b"):
        return None
    if token.startswith("r"):
        return re.fullmatch(r'r(#*)"(.*)"\1', token, re.S)[2]
    token = re.sub(r"\\\n\s*", "", token[1:-1])
    escapes = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
    return re.sub(r"\\(?:u\{(\w+)\}|x(\w\w)|(.))", lambda m: chr(int(m[1] or m[2], 16)) if m[1] or m[2] else escapes.get(m[3], m[3]), token)


class Reader:
    """Values of expressions. Each value comes with the choices that led to it: which caller, and which arm."""

    def __init__(self):
        self.depth = 0
        # Number of placeholders that are being read. A parameter in a placeholder is followed to callers if it has a name of FOLLOWED.
        self.placeholders = 0
        # Number of calls between a message and the literals of its caller.
        self.callers = 0
        # Functions that are currently being read.
        self.active = []

    def values(self, file, span, choices):
        self.depth += 1
        try:
            if self.depth > 60:
                return
            yield from self.expression(file, *span, choices)
        finally:
            self.depth -= 1

    def expression(self, file, i, j, choices):
        tokens = file.tokens
        while i < j and tokens[i] in {"&", "*", "move"}:
            i += 1
        if i < j and tokens[i] in {"return", "break", "continue"}:
            return
        if i >= j:
            yield Hole(""), choices
            return
        token = tokens[i]
        if token == "if":
            yield from self.branches(file, i, j, choices)
            return
        if token == "match":
            for arm in file.arms[i]:
                yield from self.values(file, arm, choices)
            return
        if token == "{":
            yield from self.values(file, tail(file, i + 1, file.close[i]), choices)
            return
        if token in {"|", "||"}:
            for closure in file.closures:
                if closure.start == i:
                    yield from self.values(file, closure.body, choices)
            return
        end = self.primary_end(file, i, j)
        if token == "(" and end < j and tokens[end] == "(" and tokens[end - 3] == ".":
            yield from self.called_field(file, end, choices)
            return
        chain, at = [], end
        while at < j:
            if tokens[at] == "?":
                chain.append(("?", at, None))
                at += 1
            elif tokens[at] == "[":
                chain.append(("[", at, None))
                at = file.close[at] + 1
            elif tokens[at] == "." and at + 1 < j:
                name, at = tokens[at + 1], at + 2
                if at < j and tokens[at] == "(":
                    chain.append((name, at - 1, file.split(at + 1, file.close[at])))
                    at = file.close[at] + 1
                else:
                    chain.append((name, at - 1, None))
            else:
                # An operator: the expression has no text.
                yield Hole(self.name(file, i, j)), choices
                return
        yield from self.chain(file, (i, end), chain, choices)

    def primary_end(self, file, i, j):
        tokens = file.tokens
        if tokens[i] in PAIRS:
            return file.close[i] + 1
        at = i + 1
        while at + 1 < j and tokens[at] == "::":
            at += 2
        if at < j and tokens[at] == "!" and tokens[at + 1] in PAIRS:
            return file.close[at + 1] + 1
        if at < j and tokens[at] in {"(", "{"} and re.match(r"[A-Za-z_]", tokens[i]):
            return file.close[at] + 1
        return at

    def chain(self, file, primary, chain, choices):
        if not chain:
            yield from self.primary(file, *primary, choices)
            return
        *before, (name, at, args) = chain
        if name in SAME or name in {"?", "filter", "find", "take", "skip"}:
            for value, made in self.chain(file, primary, before, choices):
                if name in {"?", "unwrap_or_default"} and isinstance(value, tuple):
                    if value[0] == "Err":
                        continue
                    value = value[1]
                if value is not None:
                    yield value, made
            return
        if name in {"then_some", "then"}:
            for value, made in self.values(file, args[0], choices):
                yield ("Some", value), made
            yield None, choices
            return
        if name in {"ok_or", "ok_or_else", "map_err"}:
            for value, made in self.values(file, args[0], choices):
                yield ("Err", value), made
            return
        if name in {"map_or", "map_or_else"}:
            yield from itertools.chain(self.values(file, args[0], choices), self.values(file, args[1], choices))
            return
        if name == "chain":
            yield from itertools.chain(self.chain(file, primary, before, choices), self.values(file, args[0], choices))
            return
        if name in {"map", "and_then", "filter_map", "flat_map"}:
            for value, made in self.values(file, args[0], choices):
                yield ("Some", value) if name == "map" else value, made
            return
        if name in {"unwrap_or", "unwrap_or_else"}:
            for value, made in self.chain(file, primary, before, choices):
                if value is not None:
                    yield value[1] if isinstance(value, tuple) else value, made
            yield from self.values(file, args[0], choices)
            return
        if args is None:
            known = False
            for value, made in self.chain(file, primary, before, choices):
                if isinstance(value, dict) and name in value:
                    known = True
                    yield value[name], made
            if not known:
                yield Hole(name), choices
            return
        function = callee(file, at)
        if function and ("str" in function.returns or "String" in function.returns or "Error" in function.returns):
            yield from self.called(function, file, args, choices)
        else:
            yield Hole(self.name(file, primary[0], at)), choices

    def primary(self, file, i, j, choices):
        tokens = file.tokens
        token = tokens[i]
        if token[0] == '"' or token.startswith(('r"', 'r#')):
            yield Text.of(text_of(token) or "", file), choices
        elif token == "format" and tokens[i + 1] == "!":
            yield from self.formatted(file, file.split(i + 3, j - 1), choices)
        elif token == "(":
            parts = file.split(i + 1, j - 1)
            if len(parts) == 1:
                yield from self.values(file, parts[0], choices)
            else:
                for made, after in self.together(file, parts, choices):
                    yield list(made), after
        elif token == "None" and j == i + 1:
            yield None, choices
        elif j > i + 1 and tokens[j - 1] == ")":
            at = file.open[j - 1] - 1
            args = file.split(at + 2, j - 1)
            name = tokens[at]
            if name in WRAPPERS:
                if name == "Ok" and tokens[at + 2:j - 1] == ["(", ")"]:
                    yield None, choices
                    return
                for value, made in self.values(file, args[0], choices):
                    yield (name, value), made
                return
            if name == "from" and tokens[at - 2] == "String":
                yield from self.values(file, args[0], choices)
                return
            if name == "new" and tokens[at - 2] == "String":
                yield "", choices
                return
            function = callee(file, at)
            if function:
                yield from self.called(function, file, args, choices)
            else:
                yield Hole(self.name(file, i, j)), choices
        elif j > i + 1 and tokens[j - 1] == "}":
            fields = {}
            for a, b in file.split(file.open[j - 1] + 1, j - 1):
                if tokens[a] != "..":
                    fields[tokens[a]] = (a + 2, b) if b > a + 1 else (a, b)
            for made, after in self.together(file, list(fields.values()), choices):
                yield dict(zip(fields, made)), after
        elif tokens[i:j] == ["String", "::", "new"]:
            yield "", choices
        elif re.match("[A-Za-z_]", token):
            yield from self.named(file, i, j, choices)
        else:
            yield Hole(token), choices

    def together(self, file, parts, choices):
        """The values of several expressions under the same choices."""
        if not parts:
            yield [], choices
            return
        for value, made in self.values(file, parts[0], choices):
            for rest, after in self.together(file, parts[1:], made):
                yield [value, *rest], after

    def named(self, file, i, j, choices):
        name = file.tokens[j - 1]
        if j == i + 1:
            fits = [b for b in file.bindings if b.start <= i < b.end and name in names_of(b.pattern)]
            if fits:
                yield from self.bound(file, max(fits, key=lambda b: b.start), name, choices)
                return
        home = constant(file, name)
        if home:
            yield from self.values(*home, choices)
        else:
            yield Hole(name), choices

    def bound(self, file, binding, name, choices):
        if binding in choices:
            yield from ((value, choices) for value in destructured(binding.pattern, choices[binding], name))
            return
        known = False
        for value, made in self.origin(file, binding, choices):
            for part in destructured(binding.pattern, value, name):
                known = True
                yield part, {**made, binding: value}
        if not known:
            yield Hole(name), choices

    def origin(self, file, binding, choices):
        source, index = binding.origin
        if not isinstance(source, Callable):
            yield from self.values(file, binding.origin, choices)
            return
        if source in choices:
            home, args, outer = choices[source]
            found = [(home, args, outer, choices)]
        elif source.name is None:
            # Closures without a name are arguments of a method; that of `map_err` gets an error. In a placeholder,
            # that of `map` gets a value.
            before = source.start - 1 - (file.tokens[source.start - 1] == "move")
            is_part = self.placeholders and names_of(binding.pattern) & FOLLOWED
            kinds = {"map_err": "Err", "unwrap_or_else": "Err", "or_else": "Err"} | ({"map": "Some"} if is_part else {})
            wanted = kinds.get(file.tokens[before - 1])
            for value, made in self.values(file, receiver(file, before - 2), choices) if wanted else ():
                if isinstance(value, tuple) and value[0] == wanted:
                    yield value[1], made
            return
        elif self.placeholders and not names_of(binding.pattern) & FOLLOWED:
            return
        else:
            if self.callers >= 3:
                return
            found = [(home, args, None, {**choices, source: (home, args, None)}) for home, args in sites(source)]
        self.callers += source not in choices
        for home, args, outer, made in found:
            if index >= len(args):
                continue
            if args[index][0] == "Err":
                for value, after in self.values(home, args[index][1], made):
                    if isinstance(value, tuple) and value[0] == "Err":
                        yield value[1], after
                continue
            for value, after in self.values(home, args[index], made if outer is None else outer):
                yield value, after if outer is None else made
        self.callers -= source not in choices

    def called(self, function, file, args, choices):
        """What a call returns."""
        if function.name in NOT_FOLLOWED or function in self.active or len(self.active) > 4:
            yield Hole(function.name), choices
            return
        self.active.append(function)
        found = list(self.returned(function, {function: (file, args, choices)}))
        self.active.pop()
        for at, value in enumerate(found):
            if value not in found[:at]:
                yield value, choices

    def called_field(self, file, i, choices):
        """What the call `(value.field)(...)` returns, whose arguments begin at token i: that of each function of the file in such a field."""
        field, args = file.tokens[i - 2], file.split(i + 1, file.close[i])
        stored = {name for colon, name in zip(file.tokens, file.tokens[2:]) if colon == field}
        for function in file.functions:
            if function.name in stored and not function.is_method:
                yield from self.called(function, file, args, choices)

    def returned(self, function, choices):
        file, (i, j) = function.file, function.body
        if function in file.closures:
            yield from (value for value, _ in self.values(file, (i, j), choices))
            return
        nested = [c for c in file.closures if i <= c.start < j]
        for at in range(i, j):
            if any(c.start <= at < c.body[1] for c in nested):
                continue
            if file.tokens[at] == "return":
                yield from (value for value, _ in self.values(file, (at + 1, file.until_end(at)), choices))
            elif file.tokens[at] == "?" and "Result" in function.returns:
                for value, _ in self.values(file, receiver(file, at), choices):
                    if isinstance(value, tuple) and value[0] == "Err":
                        yield value
        yield from (value for value, _ in self.values(file, tail(file, i, j), choices))

    def branches(self, file, i, j, choices):
        while i < j and file.tokens[i] == "if":
            brace = file.until(i + 1, "{", j)
            end = file.close[brace]
            yield from self.values(file, tail(file, brace + 1, end), choices)
            i = end + 1
            if i < j and file.tokens[i] == "else":
                i += 1
                if file.tokens[i] == "{":
                    yield from self.values(file, tail(file, i + 1, file.close[i]), choices)
                    return

    def formatted(self, file, parts, choices):
        """The texts of format!."""
        begin, end = parts[0]
        template = text_of(file.tokens[begin])
        rest, named = [], {}
        for a, b in parts[1:]:
            if b - a > 2 and file.tokens[a + 1] == "=":
                named[file.tokens[a]] = (a + 2, b)
            else:
                rest.append((a, b))
        pieces, positions = [], iter(rest)
        for piece in re.split(r"(\{\{|\}\}|\{[^{}]*\})", template):
            if piece in {"{{", "}}"}:
                pieces.append(piece[0])
            elif piece.startswith("{"):
                name = piece[1:-1].split(":")[0]
                pieces.append((name, named.get(name) if name else next(positions, None)))
            else:
                pieces.append(piece)
        for made, after in self.joined(file, pieces, begin, choices):
            yield Text.of(made, file), after

    def joined(self, file, pieces, at, choices):
        if not pieces:
            yield "", choices
            return
        first, *others = pieces
        found = [(first, choices)] if isinstance(first, str) else self.inserted(file, *first, at, choices)
        for text, made in found:
            for rest, after in self.joined(file, others, at, made):
                yield text + rest, after

    def inserted(self, file, name, span, at, choices):
        """What a placeholder stands for: its texts if they are known, else its name."""
        self.placeholders += 1
        found = list(self.named_values(file, name, at, choices) if span is None else self.values(file, span, choices))
        self.placeholders -= 1
        name = name if span is None else self.name(file, *span)
        plain = {}
        for value, made in found:
            value = value[1] if isinstance(value, tuple) and value[0] == "Some" else value
            if isinstance(value, str):
                plain.setdefault(value, made)
        if len(plain) == 1:
            [(value, made)] = plain.items()
            if not isinstance(value, Hole) or value.isdigit() and name.isupper():
                return [(value, made)]
        if not plain or any(isinstance(value, Hole) for value in plain) or not any(" " in value for value in plain) or len(plain) > 12:
            return [(f"\x01{shown(name)}\x02", choices)]
        if len(plain) == 2:
            first, second = sorted(plain)
            if first and second.startswith(first):
                return [(f"{first}[{second.removeprefix(first)}]", choices)]
        if "" in plain:
            return [(f"[{value}]", made) for value, made in plain.items() if value]
        return list(plain.items())

    def named_values(self, file, name, at, choices):
        fits = [b for b in file.bindings if b.start <= at < b.end and name in names_of(b.pattern)]
        if fits:
            return self.bound(file, max(fits, key=lambda b: b.start), name, choices)
        if name in file.constants or name in CONSTANTS:
            home = constant(file, name)
            return self.values(*home, choices)
        return [(Hole(name), choices)]

    def name(self, file, i, j):
        """A word for an expression."""
        for at in range(i, j - 1):
            if file.tokens[at] in NOT_FOLLOWED - {"shown"} and file.tokens[at + 1] == "(":
                return file.tokens[at] + "()"
        words = [word for word in file.tokens[i:j] if re.fullmatch(r"[A-Za-z_]\w*", word) and word not in NO_NAMES]
        return words[-1] if words else "file"


# Words in expressions that do not describe the value.
NO_NAMES = SAME | {"self", "display", "escape_debug", "escape_default", "escape_unicode", "as", "char", "u64", "usize", "u32", "i64", "join",
                   "Vec", "String", "str", "unsigned_abs", "get", "options", "crate", "super", "Self", "path", "to_lowercase", "file_name",
                   "map", "unwrap_or", "raw", "part", "mut", "first", "std"}
# Names of placeholders as a user reads them.
WORDS = {
    "queries_are()": "number of queries", "as_secs": "number", "asked": "number", "at": "position", "byte": "character", "c": "character",
    "count": "number", "counted()": "number of records", "describe": "device", "error": "cause", "escape_ascii": "character", "granted": "value",
    "has": "number", "infos": "names", "len": "number", "letter": "character", "letters": "number", "lines": "number", "lost": "device", "MAX_PARAMETER": "maximum",
    "MAX_REFERENCE": "maximum", "MAX": "maximum", "most": "number", "MOST_INSERT": "maximum", "MOST_LETTERS": "maximum", "msg": "cause", "named()": "scoring",
    "needs": "number", "number": "number", "of": "number", "order": "in the same order", "possible()": "highest possible scores", "several": "number",
    "shown": "name", "source": "cause",
}


def shown(name):
    return WORDS.get(name, name.lower().replace("_", " ").strip() or "value")
