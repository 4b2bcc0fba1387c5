"""--dask: what a cluster's workers give is what this process gives, and whatever fails there is told in one line."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from setwise.analysis.commands import cluster
from setwise.analysis.commands.cluster import hold_alike
from setwise.analysis.commands.errors import NotInstalled
from setwise.analysis.commands.progress import Progress
from tests.analysis.commands.running import Capture, complaint, printed, runs
from tests.analysis.run.test_workers import begun, linux
from tests.cluster import local_cluster
from tests.conftest import require_module

COMMANDS = {
    "prove": ("prove", "shift.*", "--isa", "x86-64"),
    "check": ("check", "shift.*", "--isa", "x86-64", "--quick"),
}


@pytest.fixture(scope="module")
def two_workers() -> Iterator[Any]:
    """A client of a cluster with two worker processes."""
    require_module("distributed")
    with local_cluster(2) as client:
        yield client


@pytest.fixture(scope="module")
def no_workers() -> Iterator[Any]:
    """A client of a cluster without a worker."""
    require_module("distributed")
    with local_cluster(0) as client:
        yield client


def told(capsys: Capture, *arguments: str) -> list[dict[str, Any]]:
    """The command's rows, without what differs each time."""
    rows: list[dict[str, Any]] = json.loads(printed(capsys, *arguments, "--json"))
    return [row | {"seconds": 0} for row in rows]


def address(client: Any) -> str:
    return str(client.scheduler.address)


@runs
@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_worker_killed_loses_nothing(
    command: str, two_workers: Any, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_module("bitwuzla" if command == "prove" else "numpy")
    expected = told(capsys, *COMMANDS[command])
    working, show, shown = list(two_workers.run(os.getpid).values()), Progress.show, []

    def show_and_kill(progress: Progress, name: str) -> None:
        shown.append(name)
        if len(shown) == len(expected) // 2:
            os.kill(working[0], signal.SIGKILL)
        show(progress, name)

    monkeypatch.setattr(Progress, "show", show_and_kill)
    assert told(capsys, *COMMANDS[command], "--dask", address(two_workers)) == expected
    two_workers.wait_for_workers(2)
    assert working[0] not in two_workers.run(os.getpid).values()


@linux
@pytest.mark.slow
def test_an_interrupt_ends_the_command_and_what_it_asked_for(two_workers: Any) -> None:
    def asked() -> bool:
        return bool(two_workers.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks)))

    process = begun("prove", "--dask", address(two_workers))
    until = time.monotonic() + 60
    while not asked() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert (*process.communicate(timeout=10), process.returncode) == ("", "", 130)
    while (left := asked()) and time.monotonic() < until:
        time.sleep(0.1)
    assert not left


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_PATIENCE", 0.5)


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
def test_a_cluster_without_a_worker(no_workers: Any, capsys: Capture) -> None:
    where = address(no_workers)
    assert complaint(capsys, "prove", "shift.*", "--dask", where) == (
        f"setwise prove: no worker at {where}: start some by 'dask worker {where}'\n"
    )


LACKING = {
    "setwise": ("sys.modules['setwise'] = None", "lacks setwise: install it there, too (ModuleNotFoundError"),
    "NumPy": ("sys.modules['numpy'] = None", "lacks a module: pip install '.[prove,check]' there ("),
    "the same": ("from setwise.analysis.run import workers; workers.digest = str", "has another setwise: install the"),
}
"""What makes of a Python one that lacks it, and what is said then."""


@pytest.mark.slow
@pytest.mark.parametrize("lacking", LACKING)
def test_a_worker_that_lacks(lacking: str, no_workers: Any, tmp_path: Path, capsys: Capture) -> None:
    require_module("numpy")
    hidden, said = LACKING[lacking]
    where = address(no_workers)
    run = "from distributed.cli.dask_worker import main; main()"
    command = [sys.executable, "-c", f"import sys; {hidden}; {run}", where, "--no-nanny", "--no-dashboard"]
    worker = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
    try:
        no_workers.wait_for_workers(1, timeout=60)
        assert said in complaint(capsys, "check", "shift.*", "--isa", "x86-64", "--quick", "--dask", where)
    finally:
        worker.kill()
        worker.wait()


@pytest.mark.slow
def test_a_scheduler_lost(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    require_module("distributed")
    show = Progress.show

    def show_and_end(progress: Progress, name: str) -> None:
        client.shutdown()
        monkeypatch.setattr(Progress, "show", show)

    monkeypatch.setattr(Progress, "show", show_and_end)
    with local_cluster(1) as client:
        where = address(client)
        # Work of half a minute: what takes less may be done before the scheduler has ended.
        assert complaint(capsys, "prove", "sliders.*", "--dask", where, status=1) == (
            f"setwise prove: the scheduler at {where} is lost: see why, and start anew\n"
        )


def test_versions_that_differ_are_refused() -> None:
    def place(python: str = "3.11.7.final.0", dask: str = "2026.8.0") -> dict[str, dict[str, str]]:
        return {"packages": {"python": python, "dask": dask, "distributed": "2026.8.0"}}

    alike = {"client": place(), "scheduler": place(python="3.11.2.final.0"), "workers": {"tcp://1.2.3.4:5": place()}}
    hold_alike(alike, "here:8786")
    with pytest.raises(NotInstalled, match=r"^here:8786 has dask 2024\.5\.0, and here is 2026\.8\.0: install the same"):
        hold_alike(alike | {"scheduler": place(dask="2024.5.0")}, "here:8786")
    with pytest.raises(NotInstalled, match=r"^here:8786 has Python 3\.13, and here is 3\.11: install the same"):
        hold_alike(alike | {"workers": {"tcp://1.2.3.4:5": place(python="3.13.1.final.0")}}, "here:8786")


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("where", ["127.0.0.1:1", "", "nowhere"])
@pytest.mark.slow
def test_nobody_answers(where: str, capsys: Capture) -> None:
    require_module("distributed")
    said = complaint(capsys, "prove", "shift.*", "--dask", where)
    assert f"no Dask scheduler at {where}: start one by 'dask scheduler' (" in said


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
def test_somebody_else_answers_without_a_word(capsys: Capture) -> None:
    require_module("distributed")
    with socket.create_server(("127.0.0.1", 0)) as server:
        where = f"127.0.0.1:{server.getsockname()[1]}"
        assert f"no Dask scheduler at {where}: " in complaint(capsys, "prove", "shift.*", "--dask", where)


def test_without_dask_the_command_says_so(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    said = complaint(capsys, "check", "shift.*", "--dask", "127.0.0.1:8786")
    assert said == "setwise check: Dask is not installed: pip install distributed\n"


def test_an_object_is_judged_here(capsys: Capture) -> None:
    given = ("--object", "fills.o", "--symbol", "f", "--spec", "shift.one.nort", "--dask", "127.0.0.1:8786")
    assert "one function is judged here: leave --dask out" in complaint(capsys, "prove", *given)
