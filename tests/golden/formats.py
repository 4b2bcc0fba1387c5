"""The reference of the files that setwise writes and reads, docs/formats.md, from the classes that read them.

`make golden` writes that page anew; test_formats.py compares it with the classes, the files and the commands.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from msgspec import Struct, UnsetType

from setwise.analysis.code.count import Counts
from setwise.analysis.exports.metadata import Metadata
from setwise.analysis.report import compilers
from setwise.analysis.report.bounds import Estimate
from setwise.analysis.report.kernels import KernelFigures
from setwise.analysis.report.markdown import code
from setwise.analysis.report.records import COMMAND, Record

FILE = Path(__file__).parents[2] / "docs" / "formats.md"
TEMPLATE = Path(__file__).with_suffix(".md")


@dataclass(frozen=True)
class Data:
    """A file of reports/data: the class of its rows, and that of what stands once; `without` fields that it lacks."""

    path: str
    made_by: str
    rows: Mapping[str, Any]
    says: str
    once: type | None = None
    without: tuple[str, ...] = ()

    @property
    def head(self) -> dict[str, Any]:
        """What stands once."""
        return {} if self.once is None else fields(self.once, *self.without)


def fields(kind: type, *without: str) -> dict[str, Any]:
    """The fields of a class of records, with their types."""
    return {name: hint for name, hint in get_type_hints(kind, include_extras=True).items() if name not in without}


def says(kind: type) -> str:
    """What a class says of itself, in JSON's words."""
    return re.sub(r"\bNone\b", "null", inspect.cleandoc(kind.__doc__ or ""))


_NAME = {name: hint for name, hint in fields(KernelFigures).items() if name in ("name", "isa", "lanes")}
_COUNTED = fields(KernelFigures, "counts", "bounds") | fields(Counts, "bytes", "data_bytes")


def _of(record: Record[Any], row: type, once: type | None = None) -> Data:
    return Data(record.path, record.command, fields(row), says(row), once, (record.rows,))


FILES = (
    Data("data/kernels.json", COMMAND, _COUNTED, says(KernelFigures)),
    Data("data/costs.json", COMMAND, {**_NAME, "processor": str, **fields(Estimate)}, says(Estimate)),
    _of(compilers.RECORD, compilers.CompilerCounts, compilers.Compilers),
)
"""The reports' data."""
OTHERS = {"metadata.json": Metadata}


def text() -> str:
    """The page as the classes have it."""
    others = (_section(f"## {title}", says(kind), fields(kind)) for title, kind in OTHERS.items())
    return TEMPLATE.read_text("utf-8").format(others="\n\n".join(others), data="\n\n".join(map(_data, FILES)))


def _data(data: Data) -> str:
    once = [f"*Once*: {says(data.once)}", _fields(data.head)] if data.once else []
    return "\n\n".join(
        [_section(f"### {Path(data.path).name}", f"By {code(data.made_by)}. {data.says}", data.rows), *once]
    )


def _section(title: str, said: str, held: Mapping[str, Any]) -> str:
    """What a record is, its fields, and the records within it."""
    within = (f"* {kind.__name__}: {' '.join(says(kind).split())} {_fields(fields(kind))}" for kind in _records(held))
    return "\n\n".join(filter(None, (title, said, _fields(held), "\n".join(within))))


def _fields(held: Mapping[str, Any]) -> str:
    return f"{', '.join(f'{code(name)} ({written(hint)})' for name, hint in held.items())}."


def _records(held: Mapping[str, Any]) -> dict[type, None]:
    found: dict[type, None] = {}
    for hint in held.values():
        for kind in _classes(hint):
            found |= {kind: None} | _records(fields(kind))
    return found


def _classes(hint: Any) -> Iterator[type]:
    if _is_record(hint):
        yield hint
    for part in get_args(hint) if get_origin(hint) is not Literal else ():
        yield from _classes(part)


def _is_record(hint: Any) -> bool:
    return isinstance(hint, type) and (
        is_typeddict(hint) or issubclass(hint, Struct) or hasattr(hint, "__dataclass_fields__")
    )


_WORDS = {str: "text", int: "whole number", float: "number", bool: "true or false", NoneType: "null", Any: "anything"}


def written(hint: Any) -> str:
    """A type in words.

    >>> written(tuple[str, ...]), written(int | None), written(dict[str, float])
    ('list of text', 'whole number or null', 'object of number')
    """
    origin, parts = get_origin(hint), get_args(hint)
    if hint in _WORDS:
        return _WORDS[hint]
    if origin in (Annotated, NotRequired):
        return written(parts[0]) + (", may be left out" if origin is NotRequired else "")
    if origin is Literal:
        return " or ".join(code(part) for part in parts)
    if origin in (Union, UnionType):
        left_out = ", may be left out" if UnsetType in parts else ""
        return " or ".join(written(part) for part in parts if part is not UnsetType) + left_out
    if origin is tuple and Ellipsis not in parts:
        return f"[{', '.join(map(written, parts))}]"
    if origin is tuple or origin is list:
        return f"list of {written(parts[0])}"
    return f"object of {written(parts[1])}" if parts else str(hint.__name__)


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
