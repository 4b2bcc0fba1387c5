"""Data for the atlas of a few routines on an instruction set or two: what the page's tests choose and step."""

import json
from dataclasses import replace
from pathlib import Path

from setwise.analysis.atlas.content import CONVENTIONS, Row, content, entry
from setwise.analysis.cost.processors import PROCESSORS
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.ir.routine import Routine
from setwise.codegen.kernel import widths
from setwise.codegen.targets import TARGETS

ROUTINES = (
    ("sliders.union", ("x86-64",)),
    ("sliders.pair", ("x86-64",)),
    ("kogge-stone.attacks.sout", ("x86-64", "avx2")),
    ("dumb7.occluded-until-dry.any", ("x86-64",)),
    ("exploding.rook.big-endian", ("x86-64",)),
    ("kogge-stone.attacks.sout.batch", ("x86-64",)),
    ("bytewise.carry-loop-32", ("x86-64",)),
    ("leapers.pawns.black", ("x86-64",)),
)
COMPILERS = [
    {
        "compiler": "clang",
        "options": "-O3",
        "counts": {"instructions": 1, "bytes": 4},
        "listing": ["mov rax,rdi", "<b>ret</b>"],
    },
    {
        "compiler": "gcc",
        "options": "-O3",
        "counts": {"instructions": 2, "bytes": 7},
        "listing": ["neg rax", "neg rax", "ret"],
    },
]
"""Instead of what compilers make, which takes them seconds."""


def write(folder: Path) -> None:
    """A file for each of these routines and the index of all, as `make docs` writes them."""
    (folder / "data").mkdir(parents=True)
    entries = {name: entry(routine, {"kernels": _choices(routine)}) for name, routine in catalogue().items()}
    for name, isas in ROUTINES:
        routine = replace(find(name), isas=isas)
        shown = content(routine)
        for row in shown["kernels"]:
            row["compilers"] = COMPILERS
        entries[name] = entry(routine, shown)
        _call(folder / "data" / f"{name}.js", "routine", shown)
    _call(folder / "index.js", "index", {"processors": [on.name for on in PROCESSORS], "routines": [*entries.values()]})


def _choices(routine: Routine) -> list[Row]:
    """What there is to choose of a routine that no file is written for."""
    keys = ("set", "lanes", "convention")
    wanted = [
        (isa, lanes, abi) for isa in routine.isas for lanes in widths(routine, TARGETS[isa]) for abi in CONVENTIONS
    ]
    return [dict(zip(keys, each, strict=True)) for each in wanted]


def _call(path: Path, function: str, given: Row) -> None:
    path.write_text(f"setwiseAtlas.{function}({json.dumps(given)})\n", "utf-8")
