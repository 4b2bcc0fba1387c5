"""Writer of the atlas's files, scripts that give data to the page: a page from disk may load scripts, but no data."""

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
    """Write the data of these routines, by default of all, on all cores.

    The index is written last. Its first line has a digest of its inputs; if these are unchanged, nothing is written.
    Raises ValueError for a name that is not in the catalogue.
    """
    routines = chosen(names)
    if own := next((each.name for each in routines if each.name not in catalogue()), None):
        raise ValueError(f"{own} is not in the catalogue: the atlas shows only its routines")
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
        # Roughly the largest first, so that the cores finish at about the same time.
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
    """Write the data of a routine and return its index entry."""
    routine = find(name)
    shown = content(routine, compiled)
    (folder / f"{name}.js").write_text(f"setwiseAtlas.routine({_json(shown)})\n", "ascii")
    return entry(routine, shown)


def _made_of(routines: Sequence[Routine]) -> str:
    """Return a comment with a digest of setwise's `digest`, the routines' names and the compilers' versions."""
    hashed = sha256(digest().encode())
    for name in (*(each.name for each in routines), *(compiler.version for compiler in installed())):
        hashed.update(f"{name}\n".encode())
    return f"// {hashed.hexdigest()}\n"


def _compiled(routines: Sequence[Routine], workers: Workers) -> Iterator[Compiled]:
    """Yield the compilers' code for the routines, for each instruction set of any of them."""
    names = [routine.name for routine in routines]
    isas = dict.fromkeys(isa for routine in routines for isa in routine.isas)
    tasks = [workers.submit(compile_all, names, isa) for isa in isas]
    return chain.from_iterable(task.result() for task in tasks)


def _json(value: object) -> str:
    """Return JSON that is safe in a script: ASCII, without a sequence that ends the script element."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
