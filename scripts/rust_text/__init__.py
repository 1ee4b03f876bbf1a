"""Reads texts from Rust source without a compiler, for scripts/messages.py.

`files` splits the source into tokens, and finds functions, closures, patterns and constants. `values` follows an expression to
the string literals that it may have: through `let`, `match`, `if`, constants, parameters (to all callers), and functions that
return text. A `{name}` that it does not follow becomes a placeholder, the name between \x01 and \x02.
"""
from .files import FILES, SOURCE, receiver
from .values import Hole, Reader, Text, text_of

__all__ = ["FILES", "SOURCE", "Hole", "Reader", "Text", "receiver", "text_of"]
