"""The atlas's files: scripts that call a function of the page's, for a page from disk may load no other data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from hashlib import sha256
from itertools import chain
from pathlib import Path

from setwise.analysis.atlas.content import Row, content, entry
from setwise.analysis.bench.compilers import Compiled, compile_all, installed
from setwise.analysis.cost.processors import PROCESSORS
from setwise.analysis.progress import Progress
from setwise.analysis.workers import Workers, digest
from setwise.codegen.catalogue import catalogue, chosen, find
from setwise.codegen.ir.routine import Routine


def write(folder: Path, names: Sequence[str] = ()) -> None:
    """Write what there is of these routines, or of all, with all cores; nothing where the same setwise has written it.

    The index comes last: what it begins with says what all of it was made of. ValueError for a name that there is not.
    """
    routines = chosen(names)
    if own := next((each.name for each in routines if each.name not in catalogue()), None):
        raise ValueError(f"{own} is none of the catalogue's routines, of which the atlas is")
    index, made_of = folder / "index.js", _made_of(routines)
    if index.exists() and index.read_text("ascii").startswith(made_of):
        return
    (folder / "data").mkdir(parents=True, exist_ok=True)
    for path in (index, *(folder / "data").glob("*.js")):
        path.unlink(missing_ok=True)
    order = {routine.name: at for at, routine in enumerate(routines)}
    entries: list[Row] = []
    with Workers() as workers:
        compiled = [*_compiled(routines, workers)]
        # The largest first, so that no core is left with one at the end.
        routines.sort(key=lambda routine: (len(routine.contract.direction) != 0, -len(routine.descriptions)))
        tasks = [
            workers.submit(write_one, folder / "data", each.name, [one for one in compiled if one.routine == each.name])
            for each in routines
        ]
        with Progress(len(tasks)) as progress:
            for task in as_completed(tasks):
                entries.append(task.result())
                progress.show(entries[-1]["name"])
    entries.sort(key=lambda row: order[row["name"]])
    listed = {"processors": [on.name for on in PROCESSORS], "routines": entries}
    index.write_text(f"{made_of}setwiseAtlas.index({_json(listed)})\n", "ascii")


def write_one(folder: Path, name: str, compiled: Sequence[Compiled]) -> Row:
    """Write what there is of a routine; what stands of it in the index."""
    routine = find(name)
    shown = content(routine, compiled)
    (folder / f"{name}.js").write_text(f"setwiseAtlas.routine({_json(shown)})\n", "ascii")
    return entry(routine, shown)


def _made_of(routines: Sequence[Routine]) -> str:
    """A comment that is the same where all that the data comes from is."""
    told = sha256(digest().encode())
    for name in (*(each.name for each in routines), *(compiler.version for compiler in installed())):
        told.update(f"{name}\n".encode())
    return f"// {told.hexdigest()}\n"


def _compiled(routines: Sequence[Routine], workers: Workers) -> Iterator[Compiled]:
    """What compilers make of the routines, for each instruction set."""
    names = [routine.name for routine in routines]
    isas = dict.fromkeys(isa for routine in routines for isa in routine.isas)
    tasks = [workers.submit(compile_all, names, isa) for isa in isas]
    return chain.from_iterable(task.result() for task in tasks)


def _json(value: object) -> str:
    """As a script may hold it: ASCII, and nothing that ends the element that it stands in."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
