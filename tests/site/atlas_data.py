"""Data for the atlas, of a few routines: what the page's tests choose, step and compare."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from setwise.analysis.code.count import count
from setwise.analysis.code.decode import decode
from setwise.analysis.code.kernel import binary_of
from setwise.analysis.exports.facts import facts_of
from setwise.codegen.catalogue import find
from setwise.codegen.describe.routine import Parameter, Routine
from setwise.codegen.export.order import Order
from setwise.codegen.export.sources import javascript
from setwise.codegen.kernel import Kernel
from tests.codegen.export.exports import kernel as kernel_of

ROUTINES = (
    ("sliders.union", ("x86-64",)),
    ("sliders.pair", ("x86-64",)),
    ("kogge-stone.attacks.sout", ("x86-64", "avx2")),
    ("dumb7.occluded-until-dry.any", ("x86-64",)),
    ("exploding.rook.big-endian", ("x86-64",)),
    ("sliders.union.batch", ("x86-64",)),
    ("bytewise.carry-loop-32", ("x86-64",)),
    ("leapers.pawns.black", ("x86-64",)),
)
PROCESSORS = ("zen3", "ice-lake")
DESCRIPTION = ["def fill(ray, gen, pro):", "    gen |= pro & ray.step(gen)", "    return gen", "    # <b>not bold</b>"]


def write(folder: Path) -> None:
    """The index and a file a routine, as the page's data.js describes them."""
    (folder / "data").mkdir(parents=True)
    routines = []
    for name, isas in ROUTINES:
        routine = find(name)
        conventions = ("sysv", "win64") if len(isas) > 1 else ("sysv",)
        kernels = [(isa, abi, kernel_of(name, isa, abi)) for isa in isas for abi in conventions]
        contents = [_kernel(isa, abi, kernel) for isa, abi, kernel in kernels]
        choices = [{key: content[key] for key in ("set", "lanes", "convention", "objective")} for content in contents]
        routines.append(_listed(routine, choices))
        (text,) = javascript.files(Order((kernels[0][2],), facts_of, "a test")).values()
        description = {"file": "fills/<i>file</i>.py", "lines": DESCRIPTION, "numbers": [10, 11, 12, None]}
        content = {"name": name, "description": description, "javascript": text.decode(), "kernels": contents}
        _call(folder / "data" / f"{name}.js", "routine", content)
    _call(folder / "index.js", "index", {"processors": PROCESSORS, "routines": routines})


def _call(path: Path, function: str, given: Any) -> None:
    path.write_text(f"setwiseAtlas.{function}({json.dumps(given)})\n", "utf-8")


def _parameters(parameters: Sequence[Parameter]) -> list[dict[str, Any]]:
    return [{"name": each.name, "kind": each.kind, "below": each.below} for each in parameters]


def _listed(routine: Routine, choices: Sequence[dict[str, Any]]) -> dict[str, Any]:
    contract = routine.contract
    return {
        "name": routine.name,
        "family": routine.family,
        "says": f"{routine.summary}.",
        "source": routine.source,
        "direction": contract.direction,
        "numbering": contract.numbering.name,
        "parameters": _parameters(contract.parameters),
        "elements": _parameters(contract.elements),
        "results": contract.results,
        "requires": contract.required,
        "kernels": choices,
    }


def _kernel(isa: str, abi: str, kernel: Kernel) -> dict[str, Any]:
    binary = binary_of(kernel)
    listing: list[dict[str, Any]] = []
    written: dict[str, int] = {}
    for at, each in enumerate(decode(binary.text)):
        reads = sorted({written[name] for name in each.reads if name in written})
        line = {"text": each.text(), "bytes": each.raw.hex(), "line": (None, 1, 2)[at % 3], "reads": reads}
        listing.append(line)
        written |= dict.fromkeys(each.writes, at)
    cycles = {"part": "call", "latency": 30.5, "throughput": 12.0, "path": list(range(0, len(listing), 2))}
    compilers = [
        {
            "compiler": "clang 19",
            "options": "-O3",
            "counts": {"instructions": 2, "bytes": 7},
            "listing": ["mov rax,rdi"],
        },
        {"compiler": "gcc 12", "options": "-O2", "counts": {"instructions": 1, "bytes": 3}, "listing": ["neg rax"]},
    ]
    return {
        "set": isa,
        "lanes": {"x86-64": 1, "avx2": 4}[isa],
        "convention": abi,
        "objective": "size",
        "variant": None,
        "counts": asdict(count(binary)),
        "listing": listing,
        "cycles": {PROCESSORS[0]: cycles, PROCESSORS[1]: None},
        "proof": {"status": "proved", "digest": binary.sha256},
        "compilers": compilers,
        "header": "/* header */\n",
    }
