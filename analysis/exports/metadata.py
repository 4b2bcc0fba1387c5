"""The file metadata.json of an export: the request, a description of each kernel, and digests of all files.

docs/formats.md lists its fields. `verify` reads back only the version, the request and the digests of sources, and
derives everything else again.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from setwise.analysis.errors import CannotRunHere
from setwise.analysis.exports.export_request import ExportRequest
from setwise.analysis.exports.facts import facts_of
from setwise.codegen.assemble import assemble
from setwise.codegen.export.names import symbol, symbol_of
from setwise.codegen.export.order import Order
from setwise.codegen.export.prototypes import conventions, prototype, registers
from setwise.codegen.export.renamed import in_format
from setwise.codegen.export.renamed import renamed as in_names
from setwise.codegen.files import read_checked
from setwise.codegen.kernel import Kernel
from setwise.codegen.numbering import LITTLE_ENDIAN
from setwise.codegen.own.user_files import is_own, parted, source_digest
from setwise.codegen.version import version

NAME = "metadata.json"
_EDITION = 2
_MOST_BYTES = 1 << 26
_REMEDY = "give a directory that `setwise export` wrote"

T = TypeVar("T")
FileName = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_][A-Za-z0-9_.-]*\Z", max_length=255)]
Digest = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
SourceName = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_./+@~-]+\Z", max_length=1 << 12)]


class Recorded(Struct, frozen=True):
    """The part of metadata.json from which `verify` derives the rest for comparison."""

    request: ExportRequest
    sources: Annotated[dict[SourceName, Digest], Meta(max_length=1024)] = {}


class _Head(Struct, frozen=True):
    """The fields that every version's metadata has."""

    edition: int
    setwise: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9.+-]+\Z", max_length=40)] = ""
    files: dict[FileName, Any] = {}


def metadata(request: ExportRequest, kernels: Sequence[Kernel], files: Mapping[str, bytes]) -> bytes:
    """Return the content of metadata.json for an export of these files."""
    record: dict[str, Any] = {
        "edition": _EDITION,
        "setwise": version(),
        "made_by": request.command,
        "request": msgspec.to_builtins(request),
        "files": {name: {"bytes": len(content), "sha256": _digest(content)} for name, content in files.items()},
        "kernels": list(map(_kernel, kernels, _renamed(request, kernels))),
    }
    if sources := sources_of(request):
        record["sources"] = sources
    return (json.dumps(record, indent=1, ensure_ascii=True) + "\n").encode()


def sources_of(request: ExportRequest) -> dict[str, str]:
    """Return the SHA-256 of each file or module of a user's routines, by its name: of a file as it was when loaded."""
    modules = dict.fromkeys(parted(name)[0] for name in request.names if is_own(name))
    return {module: source_digest(module, loaded=True) for module in modules if module != "__main__"}


def _renamed(request: ExportRequest, kernels: Sequence[Kernel]) -> Iterator[dict[str, dict[str, str]]]:
    """Yield for each kernel the field `renamed`, if the files name its function or its parameters differently."""
    order = in_format(Order(tuple(kernels), facts_of, request.command), request.format)
    for old, new in zip(kernels, order.kernels, strict=True):
        pairs = zip(old.routine.contract.parameters, new.routine.contract.parameters, strict=True)
        names = {symbol_of(old.name): order.functions[old.name], **{one.name: other.name for one, other in pairs}}
        changed = {name: there for name, there in names.items() if name != there}
        yield {"renamed": changed} if changed else {}


def _kernel(kernel: Kernel, renamed: dict[str, dict[str, str]]) -> dict[str, Any]:
    code, contract, facts = assemble(kernel.code), kernel.routine.contract, facts_of(kernel)
    numbering = {} if contract.numbering == LITTLE_ENDIAN else {"squares": str(contract.numbering)}
    return {
        "name": kernel.name,
        "symbol": symbol(kernel),
        "summary": kernel.routine.summary,
        "source": kernel.routine.source,
        "isa": kernel.target.name,
        "lanes": kernel.layout.lanes,
        "abi": kernel.convention.name,
        "prototype": prototype(in_names(kernel, "C")) if kernel.convention.name != "wiki" else None,
        "registers": {convention.name: dict(registers(kernel, convention)) for convention in conventions(kernel)},
        "features": facts.features,
        "counts": dict(facts.counts),
        "changed": facts.changed,
        "sha256": facts.sha256,
        "image_sha256": _digest(code.image),
        "image": code.image.hex(),
        "code_bytes": len(code.text),
        "data_offset": code.data_offset if code.data else None,
        "alignment": max(code.data_alignment, 16),
        "distances": [fixup.offset for fixup in code.text_fixups],
        "contract": {
            "parameters": list(map(asdict, contract.parameters)),
            "each": list(map(asdict, contract.elements)),
            "results": contract.results,
            "requires": contract.required,
            "specification": str(contract.specification),
            "direction": contract.direction,
            **numbering,
        },
        **renamed,
    }


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def read(directory: str | Path) -> Recorded:
    """Return the recorded request of the export in a directory.

    Raises ValueError if it is missing or invalid, and CannotRunHere if another version of setwise wrote it.
    """
    path = Path(directory) / NAME
    content = _content(path)
    head = _decoded(path, content, _Head)
    if head.edition != _EDITION:
        raise ValueError(f"{path}: unknown edition {head.edition}: export again")
    if head.setwise != version():
        raise CannotRunHere(
            f"{path}: setwise {head.setwise} wrote it, and this is {version()}, which makes other files: "
            f"use setwise {head.setwise}"
        )
    return _decoded(path, content, Recorded)


def accounted(directory: Path) -> set[str]:
    """Return the names of an export's files, metadata.json included. Raises ValueError without valid metadata."""
    path = directory / NAME
    return {*_decoded(path, _content(path), _Head).files, NAME}


def _content(path: Path) -> bytes:
    return read_checked(path, _MOST_BYTES, links=False, larger="any export's", remedy=_REMEDY)


def _decoded(path: Path, content: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        why = "".join(filter(str.isprintable, str(error)))[:300]  # it may quote the untrusted content
        wrong = f"not JSON ({why}): {_REMEDY}"
        if isinstance(error, msgspec.ValidationError | RecursionError):
            wrong = f"not a valid metadata.json of `setwise export` ({why}): export again"
        raise ValueError(f"{path}: {wrong}") from None
