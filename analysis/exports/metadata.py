"""metadata.json of an export: what each kernel is, what was asked for, and digests of all files.

Its schema is the classes below: what they do not say is refused when it is read, so nobody reads what nobody checked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from setwise.analysis.code.decode import Binary
from setwise.analysis.exports.request import Request, Text
from setwise.analysis.proof.certificate import Certificate, ProofStatus
from setwise.codegen.assemble import assemble
from setwise.codegen.describe.routine import Parameter
from setwise.codegen.export.names import symbol
from setwise.codegen.export.order import Facts
from setwise.codegen.export.prototypes import prototype, registers
from setwise.codegen.files import told_content
from setwise.codegen.kernel import Kernel
from setwise.codegen.machine.convention import CONVENTIONS
from setwise.codegen.numbering import LITTLE_ENDIAN
from setwise.codegen.own.files import is_own, parted, source_digest
from setwise.codegen.version import version

NAME = "metadata.json"
_EDITION = 1
_MOST_BYTES = 1 << 26

T = TypeVar("T")
Number = Annotated[int, Meta(ge=0, lt=1 << 31)]
Name = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_][A-Za-z0-9_.-]*\Z", max_length=255)]
Digest = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
SourceName = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_./+@~-]+\Z", max_length=1 << 12)]
Image = Annotated[str, Meta(pattern=r"\A(?:[0-9a-f]{2})+\Z", max_length=1 << 16)]


class MetadataError(ValueError):
    """A directory without metadata of an export, or with some that cannot be read; the message is one line."""


class OtherVersion(MetadataError):
    """Metadata that another version of setwise wrote, so that this one cannot make its files again."""


class FileRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """A file as it was written."""

    bytes: Number
    sha256: Digest


class ParameterRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """A parameter of a contract."""

    name: Text
    kind: Text
    below: Number


class ContractRecord(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a kernel takes, requires and gives; `squares` is their numbering, left out where a1 = 0, h1 = 7."""

    parameters: tuple[ParameterRecord, ...]
    each: tuple[ParameterRecord, ...]
    results: tuple[Text, ...]
    requires: tuple[Text, ...]
    specification: Text
    direction: Text
    squares: Text = ""


class ProofRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """What of a proof does not change from one run to the next; it is about the image."""

    status: ProofStatus
    reason: Text
    solver: Text
    cases: Number
    paths: Number
    rounds: Number
    induction: Text
    image_sha256: Digest


class KernelRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """One kernel: the image is code, padding and data as one block, `sha256` that of the code as in files of objects.

    There its distances to data are left open, zeros; in the image they are set. `proof` is None without one.
    """

    name: Text
    symbol: Name
    summary: Text
    source: Text
    isa: Text
    lanes: Number
    abi: Text
    prototype: Text | None
    registers: dict[Text, dict[Text, Text]]
    features: tuple[Text, ...]
    counts: dict[Text, Number]
    changed: tuple[Text, ...]
    sha256: Digest
    image: Image
    code_bytes: Number
    data_offset: Number | None
    alignment: Number
    distances: tuple[Number, ...]
    contract: ContractRecord
    proof: ProofRecord | None

    def __post_init__(self) -> None:
        ends = self.code_bytes, self.data_offset, len(self.image) // 2
        if sorted(bounds := [end for end in ends if end is not None]) != bounds or not self.code_bytes:
            raise ValueError("code and data do not lie in the image, one behind the other")

    @property
    def binary(self) -> Binary:
        """The recorded bytes."""
        image, start = bytes.fromhex(self.image), self.data_offset
        return Binary(image[: self.code_bytes], *(() if start is None else (image[start:], start)))


class Metadata(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What stands in metadata.json: who made it, the request, each file, the kernels.

    `sources` are the files and modules that describe routines of somebody's own, with what they are held to.
    """

    edition: Number
    setwise: Text
    made_by: Text
    request: Request
    files: dict[Name, FileRecord]
    kernels: tuple[KernelRecord, ...]
    sources: dict[SourceName, Digest] = {}

    def without_proofs(self) -> Metadata:
        """The same, apart from how it was proved."""
        kernels = tuple(msgspec.structs.replace(kernel, proof=None) for kernel in self.kernels)
        return msgspec.structs.replace(self, kernels=kernels)

    def encoded(self) -> bytes:
        """The file's content."""
        return (json.dumps(msgspec.to_builtins(self), indent=1, ensure_ascii=True) + "\n").encode()


class _Head(Struct, frozen=True):
    """What every version's metadata begins with."""

    edition: int
    setwise: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9.+-]+\Z", max_length=40)] = ""
    files: dict[Name, FileRecord] = {}


def metadata(
    request: Request,
    kernels: Sequence[Kernel],
    facts: Callable[[Kernel], Facts],
    files: Mapping[str, bytes],
    proofs: Sequence[Certificate | None],
) -> Metadata:
    """The metadata of an export of these files."""
    records = {name: FileRecord(len(content), _digest(content)) for name, content in files.items()}
    of_kernels = tuple(_kernel(kernel, facts(kernel), proof) for kernel, proof in zip(kernels, proofs, strict=True))
    return Metadata(_EDITION, version(), request.made_by, request, records, of_kernels, sources_of(request))


def sources_of(request: Request) -> dict[str, str]:
    """The SHA-256 of each file or module that describes routines of somebody's own, as it is now."""
    modules = dict.fromkeys(parted(name)[0] for name in request.names if is_own(name))
    return {module: source_digest(module, loaded=True) for module in modules if module != "__main__"}


def _kernel(kernel: Kernel, facts: Facts, proof: Certificate | None) -> KernelRecord:
    code, contract = assemble(kernel.code), kernel.routine.contract
    conventions = dict.fromkeys((kernel.convention, *(CONVENTIONS[name] for name in ("sysv", "win64"))))
    return KernelRecord(
        name=kernel.name,
        symbol=symbol(kernel),
        summary=kernel.routine.summary,
        source=kernel.routine.source,
        isa=kernel.target.name,
        lanes=kernel.layout.lanes,
        abi=kernel.convention.name,
        prototype=prototype(kernel) if kernel.convention.name != "wiki" else None,
        registers={convention.name: dict(registers(kernel, convention)) for convention in conventions},
        features=facts.features,
        counts=dict(facts.counts),
        changed=facts.changed,
        sha256=facts.sha256,
        image=code.image.hex(),
        code_bytes=len(code.text),
        data_offset=code.data_offset if code.data else None,
        alignment=max(code.data_alignment, 16),
        distances=tuple(fixup.offset for fixup in code.text_fixups),
        contract=ContractRecord(
            parameters=tuple(map(_parameter, contract.parameters)),
            each=tuple(map(_parameter, contract.elements)),
            results=contract.results,
            requires=contract.required,
            specification=str(contract.specification),
            direction=contract.direction,
            squares="" if contract.numbering == LITTLE_ENDIAN else str(contract.numbering),
        ),
        proof=None if proof is None else proof_record(proof),
    )


def _parameter(parameter: Parameter) -> ParameterRecord:
    return ParameterRecord(parameter.name, parameter.kind, parameter.below)


def proof_record(proof: Certificate) -> ProofRecord:
    """What is recorded of a proof."""
    kept: dict[str, Any] = {name: getattr(proof, name) for name in ProofRecord.__struct_fields__[:-1]}
    return ProofRecord(**kept, image_sha256=proof.binary.image_sha256)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def read(directory: str | Path) -> Metadata:
    """The metadata of an export.

    MetadataError where it is missing or is none, OtherVersion where another version of setwise wrote it.
    """
    path = Path(directory) / NAME
    content = _content(path)
    head = _decoded(path, content, _Head)
    if head.edition != _EDITION:
        raise MetadataError(f"{path}: of edition {head.edition}, which this setwise does not know")
    if head.setwise != version():
        raise OtherVersion(
            f"{path}: setwise {head.setwise} wrote it, this is {version()}: it cannot be made again: "
            f"use setwise {head.setwise}"
        )
    found = _decoded(path, content, Metadata)
    if found.encoded() != content:
        raise MetadataError(f"{path}: not as `setwise export` writes it (other words for the same): export again")
    return found


def accounted(directory: Path) -> set[str]:
    """The names of an export's files, whichever version wrote it; MetadataError where there is none."""
    path = directory / NAME
    return {*_decoded(path, _content(path), _Head).files, NAME}


def _content(path: Path) -> bytes:
    remedy = "give a directory that `setwise export` wrote"
    try:
        return told_content(path, _MOST_BYTES, links=False, larger="any export's", remedy=remedy)
    except ValueError as error:
        raise MetadataError(str(error)) from None


def _decoded(path: Path, content: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        why = "".join(filter(str.isprintable, str(error)))[:300]  # it may repeat what stands there
        if isinstance(error, msgspec.ValidationError | RecursionError):
            raise MetadataError(f"{path}: not as `setwise export` writes it ({why}): export again") from None
        raise MetadataError(f"{path}: is no JSON ({why}): give a directory that `setwise export` wrote") from None
