"""Attack maps of a Parquet file's positions through DuckDB, Polars and Dask: rows a second and peak memory.

python -m tests.columns.measure makes 10 million positions of random play, has each engine write their attack maps to
another Parquet file, in a process of its own each time, holds the maps to each other, to python-chess and to the
ray-walk, and writes reports/data/columns.json; `setwise report` shows it. It takes minutes, and gives its disk back.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import setwise
from setwise.analysis.measure.here import machine
from setwise.analysis.report.columns import RECORD, Columns, Through
from setwise.analysis.report.files import write
from setwise.analysis.spec import raywalk
from tests.cluster import local_cluster

NAMES = ["rooks", "bishops", "occupied"]
KERNEL, SEED, WORKERS = "sliders.union", 17, 2

Work = Callable[[], None]


def ready() -> setwise.Function:
    """The kernel, its form on arrays made."""
    attacked = setwise.kernel(KERNEL)
    attacked(*np.zeros((3, 1), np.uint64))
    return attacked


@contextmanager
def arrow(source: str, target: str) -> Iterator[Work]:
    """No engine: the columns of a row group at a time."""
    import pyarrow
    import pyarrow.parquet

    attacked = ready()

    def work() -> None:
        file = pyarrow.parquet.ParquetFile(source)
        with pyarrow.parquet.ParquetWriter(target, pyarrow.schema([("attacks", pyarrow.uint64())])) as out:
            for group in range(file.num_row_groups):
                columns = file.read_row_group(group, NAMES).columns
                out.write_table(pyarrow.table([attacked(*(column.to_numpy() for column in columns))], ["attacks"]))

    yield work


@contextmanager
def duckdb(source: str, target: str) -> Iterator[Work]:
    """A function on Arrow's columns."""
    import duckdb
    import pyarrow

    attacked = ready()

    def columns(rooks: Any, bishops: Any, occupied: Any) -> Any:
        return pyarrow.array(attacked(rooks.to_numpy(), bishops.to_numpy(), occupied.to_numpy()))

    with duckdb.connect() as database:
        database.create_function("attacked", columns, ["UBIGINT"] * 3, "UBIGINT", type="arrow")
        query = f"COPY (SELECT attacked({', '.join(NAMES)}) AS attacks FROM '{source}') TO '{target}' (FORMAT parquet)"

        def work() -> None:
            database.execute(query)

        yield work


@contextmanager
def polars(source: str, target: str) -> Iterator[Work]:
    """An expression of a lazy frame."""
    import polars

    attacked = ready()
    attacks = polars.map_batches(
        NAMES,
        lambda columns: polars.Series("attacks", attacked(*(column.to_numpy() for column in columns))),
        return_dtype=polars.UInt64,
        is_elementwise=True,  # so that the frame may be cut into pieces
    )
    frame = polars.scan_parquet(source).select(attacks.alias("attacks"))

    def work() -> None:
        frame.sink_parquet(target, compression="snappy")

    yield work


def of_group(attacked: Any, source: str, group: int) -> Any:
    """What a worker of Dask does: the attack maps of a row group."""
    import pyarrow.parquet

    columns = pyarrow.parquet.ParquetFile(source).read_row_group(group, NAMES).columns
    return attacked(*(column.to_numpy() for column in columns))


@contextmanager
def dask(source: str, target: str, ends: bool = False) -> Iterator[Work]:
    """A task per row group; if a worker `ends`, it is killed when half of them are done."""
    import distributed
    import pyarrow
    import pyarrow.parquet

    attacked, groups = setwise.kernel(KERNEL), pyarrow.parquet.ParquetFile(source).num_row_groups

    def work() -> None:
        futures = client.map(partial(of_group, attacked, source), range(groups), pure=False)
        if ends:
            for done, _ in enumerate(distributed.as_completed(futures), 1):
                if done == groups // 2:
                    os.kill(workers[0], signal.SIGKILL)
                    break
        with pyarrow.parquet.ParquetWriter(target, pyarrow.schema([("attacks", pyarrow.uint64())])) as out:
            for attacks in client.gather(futures):
                out.write_table(pyarrow.table([attacks], ["attacks"]))

    with local_cluster(WORKERS) as client:
        client.run(of_group, attacked, source, 0)  # each worker makes its kernel
        workers = list(client.run(os.getpid).values())
        yield work
        ended = set(workers) - set(client.run(os.getpid).values())
        if ended != ({workers[0]} if ends else set()):
            raise SystemExit(f"of Dask's workers {len(ended)} ended")


ENGINES = {
    "pyarrow": arrow,
    "duckdb": duckdb,
    "polars": polars,
    "dask": dask,
    "dask, a worker killed": partial(dask, ends=True),
}


def alone(engine: str, source: str, target: str) -> None:
    """In a process of its own: the seconds that the work takes, the most memory in MiB, the column's SHA-256."""
    with ENGINES[engine](source, target) as work:
        before = time.perf_counter()
        work()
        seconds = time.perf_counter() - before
    own, largest = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    memory = (own + WORKERS * largest * engine.startswith("dask")) // 1024  # of workers the system tells the largest
    print(json.dumps({"seconds": round(seconds, 3), "memory": memory, "sha256": digest(attacks_in(target))}))


def digest(attacks: Any) -> str:
    """The SHA-256 of a column's numbers, low bytes first."""
    return hashlib.sha256(attacks.astype("<u8")).hexdigest()


def measured(rows: int, folder: Path, runs: int) -> Columns:
    """The measurement, its files in that folder; SystemExit if attack maps differ from each other or are wrong."""
    versions = {name: version(name) for name in ("numpy", "pyarrow", "duckdb", "polars", "dask", "chess")}
    load, checked, walked = os.getloadavg()[0], min(rows, 10_000), min(rows, 1000)
    source, target = str(folder / "positions.parquet"), str(folder / "attacks.parquet")
    before = time.perf_counter()
    _process("random_play", str(rows), source, "--seed", str(SEED), "--group", str(max(rows // 100, 1)))
    making = round(time.perf_counter() - before, 1)
    told: dict[str, list[dict[str, Any]]] = {engine: [] for engine in ENGINES}
    for run in range(1, runs + 1):  # in turns, so that what else runs meanwhile slows all alike
        for engine in ENGINES:
            told[engine].append(json.loads(_process("measure", "--engine", engine, source, target)))
            print(f"{engine}, run {run}: {told[engine][-1]}", file=sys.stderr)
    outputs = {run["sha256"] for each in told.values() for run in each}
    if len(outputs) != 1:
        raise SystemExit(f"different outputs: {told}")
    judge(source, target, checked, walked)
    return Columns(
        machine=machine(),
        cores=os.cpu_count() or 1,
        date=date.today().isoformat(),
        load=round(load, 1),
        versions={"Python": platform.python_version()} | versions,
        positions=rows,
        seed=SEED,
        making=making,
        runs=runs,
        chess=checked,
        walked=walked,
        sha256=outputs.pop(),
        through=tuple(
            Through(engine, min(seconds), max(seconds), max(run["memory"] for run in each))
            for engine, each in told.items()
            for seconds in [[run["seconds"] for run in each]]
        ),
    )


def judge(source: str, target: str, checked: int, walked: int) -> None:
    """Hold rows drawn at random to python-chess, the first of them to the ray-walk; SystemExit where one differs."""
    boards, attacks, walk = boards_in(source), attacks_in(target), raywalk.specification("union", board="occupied")
    if len(attacks) != len(boards[0]):
        raise SystemExit(f"{len(attacks)} rows of {len(boards[0])}")
    for at, row in enumerate(Random(5).sample(range(len(attacks)), checked)):
        position, attacked = [int(column[row]) for column in boards], int(attacks[row])
        if attacked != by_chess(*position):
            raise SystemExit(f"row {row}: python-chess says otherwise")
        if at < walked and (attacked,) != walk(*position):
            raise SystemExit(f"row {row}: the ray-walk says otherwise")


def boards_in(path: str) -> list[Any]:
    """The positions in a file, an array per column."""
    import pyarrow.parquet

    return [column.to_numpy() for column in pyarrow.parquet.read_table(path, columns=NAMES).columns]


def attacks_in(path: str) -> Any:
    """The attack maps in a file, as an array."""
    import pyarrow.parquet

    return pyarrow.parquet.read_table(path)["attacks"].to_numpy()


def by_chess(rooks: int, bishops: int, occupied: int) -> int:
    """What sliders attack by python-chess, piece by piece."""
    import chess

    board, attacked = chess.BaseBoard.empty(), 0
    board.rooks, board.bishops, board.occupied = rooks, bishops, occupied
    for square in chess.scan_forward(rooks | bishops):
        attacked |= board.attacks_mask(square)
    return attacked


def _process(module: str, *arguments: str) -> str:
    """What a module beside this one prints when it is run; SystemExit where it fails, and it has said why."""
    command = [sys.executable, "-m", f"tests.columns.{module}", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])
    if done.returncode:
        raise SystemExit(f"failed: {' '.join(command)}")
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000, help="how many positions (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="of each engine (default: %(default)s)")
    parser.add_argument("-o", "--output", default="reports", metavar="DIR", help="the folder (default: reports)")
    parser.add_argument("--engine", choices=ENGINES, help=argparse.SUPPRESS)
    parser.add_argument("files", nargs="*", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.rows < 2 or arguments.runs < 1:
        parser.error("it takes 2 rows and a run at the least")
    try:
        if arguments.engine:
            return alone(arguments.engine, *arguments.files)
        with tempfile.TemporaryDirectory() as folder:
            columns = measured(arguments.rows, Path(folder), arguments.runs)
        write(Path(arguments.output), {RECORD.path: RECORD.text(columns)})
    except ModuleNotFoundError as error:
        raise SystemExit(f"{error.name} is missing: pip install '.[columns,test]'") from None
    except ValueError as error:
        raise SystemExit(str(error)) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
