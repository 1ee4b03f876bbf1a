"""Extension of griffe (mkdocs.yml) for the stubs of the Python package, python/pyswalign/_native.pyi.

A class shows the parameters of `__new__`, which griffe reads only from `__init__`. Keywords that a TypedDict lists
(`**choice: Unpack[...]`) become parameters. Examples (`>>>`) become blocks of code.
"""
import re

import griffe

# An example and its output, up to an empty line or the end of the text.
EXAMPLE = re.compile(r"^>>> .*?(?=\n\n|\Z)", re.M | re.S)


def keywords(module, name):
    """The keys of a TypedDict and of its bases, with their types."""
    of = module.members[name]
    found = [(key, member.annotation) for key, member in of.members.items() if member.is_attribute]
    for base in of.bases:
        if str(base) in module.members and not module.members[str(base)].is_alias:
            found += keywords(module, str(base))
    return found


class Stubs(griffe.Extension):
    def on_package(self, *, pkg, **_):
        for module in [pkg, *pkg.modules.values()]:
            for item in module.members.values():
                if not item.is_alias:
                    self.change(item, module)

    def change(self, item, module):
        if item.docstring:
            item.docstring.value = EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", item.docstring.value)
        if item.is_class:
            for member in item.members.values():
                self.change(member, module)
            if "__new__" in item.members:
                made = item.members.pop("__new__")
                made.name = "__init__"
                made.returns = None
                item.members["__init__"] = made
        elif item.is_function:
            item.parameters = griffe.Parameters(*self.parameters(item, module))

    def parameters(self, function, module):
        for parameter in function.parameters:
            unpacked = re.fullmatch(r"Unpack\[(\w+)\]", str(parameter.annotation or ""))
            if not unpacked:
                yield parameter
                continue
            for name, annotation in keywords(module, unpacked[1]):
                kind = griffe.ParameterKind.keyword_only
                yield griffe.Parameter(name, annotation=annotation, kind=kind, default="None")
