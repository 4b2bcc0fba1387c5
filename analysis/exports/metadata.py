"""metadata.json of an export: what each kernel is, what was asked for, and digests of all files."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from setwise.analysis.code.decode import Binary
from setwise.analysis.exports.request import Request
from setwise.analysis.proof.certificate import Certificate
from setwise.codegen.assemble import assemble
from setwise.codegen.export.names import symbol
from setwise.codegen.export.order import Facts
from setwise.codegen.export.prototypes import prototype, registers
from setwise.codegen.kernel import Kernel
from setwise.codegen.machine.convention import CONVENTIONS
from setwise.codegen.version import version

NAME = "metadata.json"
_EDITION = 1


class MetadataError(ValueError):
    """A directory without metadata of an export, or with some that cannot be read; the message is one line."""


def metadata(
    request: Request,
    kernels: Sequence[Kernel],
    facts: Callable[[Kernel], Facts],
    files: Mapping[str, bytes],
    proofs: Sequence[Certificate | None],
) -> bytes:
    """The file's content."""
    record = {
        "edition": _EDITION,
        "setwise": version(),
        "made_by": request.made_by,
        "request": asdict(request),
        "files": {name: {"bytes": len(content), "sha256": _digest(content)} for name, content in files.items()},
        "kernels": [_kernel(kernel, facts(kernel), proof) for kernel, proof in zip(kernels, proofs, strict=True)],
    }
    return (json.dumps(record, indent=1, ensure_ascii=True) + "\n").encode()


def _kernel(kernel: Kernel, facts: Facts, proof: Certificate | None) -> dict[str, Any]:
    code, contract = assemble(kernel.code), kernel.routine.contract
    conventions = dict.fromkeys((kernel.convention, *(CONVENTIONS[name] for name in ("sysv", "win64"))))
    return {
        "name": kernel.name,
        "symbol": symbol(kernel),
        "summary": kernel.routine.summary,
        "source": kernel.routine.source,
        "isa": kernel.target.name,
        "lanes": kernel.layout.lanes,
        "abi": kernel.convention.name,
        "prototype": prototype(kernel) if kernel.convention.name != "wiki" else None,
        "registers": {convention.name: dict(registers(kernel, convention)) for convention in conventions},
        "features": list(facts.features),
        "counts": dict(facts.counts),
        "changed": list(facts.changed),
        # Of the code as in files of objects, its distances to data left open, zeros. They are set in the image: code,
        # padding and data as one block.
        "sha256": facts.sha256,
        "image": code.image.hex(),
        "code_bytes": len(code.text),
        "data_offset": code.data_offset if code.data else None,
        "alignment": max(code.data_alignment, 16),
        "distances": [fixup.offset for fixup in code.text_fixups],
        "contract": {
            "parameters": [asdict(parameter) for parameter in contract.parameters],
            "each": [asdict(parameter) for parameter in contract.elements],
            "results": list(contract.results),
            "requires": list(contract.requires),
            "specification": contract.specification,
            "direction": contract.direction,
        },
        "proof": _proof(proof),
    }


def _proof(proof: Certificate | None) -> dict[str, Any] | None:
    """What does not change from one run to the next; the bytes that it is about are the image."""
    if proof is None:
        return None
    kept = ("status", "reason", "solver", "cases", "paths", "rounds", "induction")
    return {**{name: getattr(proof, name) for name in kept}, "image_sha256": proof.binary.image_sha256}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True, slots=True)
class Recorded:
    """One kernel as the metadata has it."""

    name: str
    symbol: str
    isa: str
    lanes: int
    abi: str
    sha256: str
    counts: Mapping[str, int]
    features: tuple[str, ...]
    binary: Binary
    distances: tuple[int, ...]
    image_sha256: str | None
    """Of code and data, which the recorded proof is about; None without one."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What stands in metadata.json: who made it, the request, each file's digest, the kernels; `record` is it all."""

    setwise: str
    request: Request
    files: Mapping[str, str]
    kernels: tuple[Recorded, ...]
    record: Mapping[str, Any]

    def same_but_for_proofs(self, content: bytes) -> bool:
        """Whether the content of another metadata.json says the same, apart from how it was proved."""
        return _without_proofs(self.record) == _without_proofs(json.loads(content))


def _without_proofs(record: Mapping[str, Any]) -> dict[str, Any]:
    return {**record, "kernels": [{**kernel, "proof": None} for kernel in record["kernels"]]}


def read(directory: str | Path) -> Metadata:
    """The metadata of an export; MetadataError where it is missing or is none."""
    path = Path(directory) / NAME
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        what = (error.strerror or str(error)).lower() if isinstance(error, OSError) else f"is no JSON ({error})"
        raise MetadataError(f"{path}: {what}: give a directory that `setwise export` wrote") from None
    try:
        if record["edition"] != _EDITION:
            raise MetadataError(f"{path}: of edition {record['edition']}, which this setwise does not know")
        request = dict(record["request"])
        request |= {"names": tuple(request["names"]), "isas": tuple(request["isas"])}
        files = {_file_name(name): str(file["sha256"]) for name, file in record["files"].items()}
        kernels = tuple(_recorded(kernel) for kernel in record["kernels"])
        return Metadata(str(record["setwise"]), Request(**request), files, kernels, record)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, MetadataError):
            raise
        raise MetadataError(f"{path}: not as `setwise export` writes it ({error!r}): export again") from None


def _file_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", name):
        raise ValueError(f"{name!r} is no file of an export")
    return name


def _recorded(kernel: Mapping[str, Any]) -> Recorded:
    image, size = bytes.fromhex(kernel["image"]), int(kernel["code_bytes"])
    start = kernel["data_offset"]
    binary = Binary(image[:size]) if start is None else Binary(image[:size], image[start:], start)
    return Recorded(
        name=str(kernel["name"]),
        symbol=_file_name(kernel["symbol"]),
        isa=str(kernel["isa"]),
        lanes=int(kernel["lanes"]),
        abi=str(kernel["abi"]),
        sha256=str(kernel["sha256"]),
        counts={str(key): int(value) for key, value in kernel["counts"].items()},
        features=tuple(map(str, kernel["features"])),
        binary=binary,
        distances=tuple(map(int, kernel["distances"])),
        image_sha256=None if kernel["proof"] is None else str(kernel["proof"]["image_sha256"]),
    )
