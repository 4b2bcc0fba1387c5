"""The reference of the files that setwise writes and reads, docs/formats.md, from classes that read them.

`make golden` writes that page anew; test_formats.py compares it with the classes, the files and the commands.
"""

import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from msgspec import Struct, UnsetType

from setwise.analysis.exports.export_request import ExportRequest
from setwise.analysis.exports.metadata import Digest, FileName, SourceName
from setwise.analysis.report.figures import Measurements

FILE = Path(__file__).parents[2] / "docs" / "formats.md"
TEMPLATE = Path(__file__).with_suffix(".md")


class FileRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """A file as it was written."""

    bytes: int
    sha256: Digest


class ParameterRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """A parameter of a contract."""

    name: str
    kind: str
    below: int


class ContractRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """The parameters, requirements and results of a kernel; `squares` is their numbering unless a1 = 0, h1 = 7."""

    parameters: tuple[ParameterRecord, ...]
    each: tuple[ParameterRecord, ...]
    results: tuple[str, ...]
    requires: tuple[str, ...]
    specification: str
    direction: str
    squares: str = ""


class KernelRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """One kernel: the image is code, padding and data as one block, `sha256` that of the code as in files of objects.

    There its distances to data are left open, zeros; in the image they are set.
    `renamed` has the function and the parameters whose names the language of the files reserves.
    """

    name: str
    symbol: str
    summary: str
    source: str
    isa: str
    lanes: int
    abi: str
    prototype: str | None
    registers: dict[str, dict[str, str]]
    features: tuple[str, ...]
    counts: dict[str, int]
    changed: tuple[str, ...]
    sha256: Digest
    image_sha256: Digest
    image: str
    code_bytes: int
    data_offset: int | None
    alignment: int
    distances: tuple[int, ...]
    contract: ContractRecord
    renamed: dict[str, str] = {}


class Metadata(Struct, frozen=True, forbid_unknown_fields=True):
    """metadata.json has its maker, the request, each file and the kernels.

    `sources` are the files and modules that describe users' own routines, with their SHA-256.
    """

    edition: int
    setwise: str
    made_by: str
    request: ExportRequest
    files: dict[FileName, FileRecord]
    kernels: tuple[KernelRecord, ...]
    sources: dict[SourceName, Digest] = {}


def fields(kind: type) -> dict[str, Any]:
    """The fields of a class of records, with their types."""
    return get_type_hints(kind, include_extras=True)


def says(kind: type) -> str:
    """What a class says of itself, in JSON's words."""
    return re.sub(r"\bNone\b", "null", inspect.cleandoc(kind.__doc__ or ""))


FILES: dict[str, type] = {
    "metadata.json": Metadata,
    "measurements.json": Measurements,
}
"""The class that reads each file of JSON."""


def text() -> str:
    """The page as the classes have it."""
    files = (_section(f"## {title}", says(kind), fields(kind)) for title, kind in FILES.items())
    return TEMPLATE.read_text("utf-8").format(files="\n\n".join(files))


def _section(title: str, said: str, held: Mapping[str, Any]) -> str:
    """What a record is, its fields, and the records within it."""
    within = (f"* {kind.__name__}: {' '.join(says(kind).split())} {_fields(fields(kind))}" for kind in _records(held))
    return "\n\n".join(filter(None, (title, said, _fields(held), "\n".join(within))))


def _fields(held: Mapping[str, Any]) -> str:
    return f"{', '.join(f'`{name}` ({written(hint)})' for name, hint in held.items())}."


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
        return " or ".join(f"`{part}`" for part in parts)
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
