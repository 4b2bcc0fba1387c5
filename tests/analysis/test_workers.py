"""Processes that work for a command end with it: when it is interrupted, and whatever else ends it."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing.context import SpawnProcess
from pathlib import Path

import pytest

from setwise.analysis.workers import Workers
from tests.conftest import few, require_module, require_tool

linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="not run: it looks into /proc")
_PATIENCE = 60.0  # seconds until a command has its processes
_SOON = 10.0  # seconds; undisturbed it is far less than one

COMMANDS = {
    "report": ("report", "-o", "{folder}/reports"),
    "check": ("check",),
    "prove": ("prove",),
}


def children(parent: int) -> set[int]:
    """The processes that descend from this one and still run."""
    running = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, ppid = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:  # it has just ended
            continue
        if state not in "ZX":
            running[int(stat.parent.name)] = int(ppid)
    found: set[int] = set()
    waiting = [parent]
    while waiting:
        above = waiting.pop()
        below = {one for one, of in running.items() if of == above}
        found |= below
        waiting += below
    return found


def gone(processes: set[int]) -> bool:
    """Whether they all end soon; what has ended, but nobody has asked after it, counts as ended."""
    until = time.monotonic() + _SOON
    while time.monotonic() < until:
        if not any(_runs(one) for one in processes):
            return True
        time.sleep(0.02)
    return False


def _runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def begun(*words: str) -> subprocess.Popen[str]:
    """The command, in a process group of its own, that an interrupt ends though a shell may have started us without."""
    command = [sys.executable, "-m", "setwise", *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, stdout=pipe, stderr=pipe, text=True, start_new_session=True, preexec_fn=interruptible
    )


def interruptible() -> None:
    """A shell's command in the background ignores interrupts, and so does whatever it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def started(command: str, folder: Path) -> tuple[subprocess.Popen[str], set[int]]:
    """The command at work, in a process group of its own, and the processes that work for it."""
    process = begun(*(word.format(folder=folder) for word in COMMANDS[command]))
    until = time.monotonic() + _PATIENCE
    working: set[int] = set()
    # The first child is Python's own, which watches over semaphores.
    while len(working) < 2 and time.monotonic() < until and process.poll() is None:
        working = children(process.pid)
        time.sleep(0.02)
    assert len(working) >= 2, process.communicate()
    return process, working


@linux
@pytest.mark.parametrize(
    ("command", "end", "later", "all_of_them"),
    few(
        [
            ("report", signal.SIGINT, 0.0, True),
            ("prove", signal.SIGTERM, 0.0, False),
            ("check", signal.SIGKILL, 2.0, False),
            ("prove", signal.SIGINT, 2.0, True),
            ("check", signal.SIGINT, 2.0, False),
            ("report", signal.SIGTERM, 2.0, False),
        ],
        3,
    ),
)
def test_what_ends_a_command_ends_its_processes(
    command: str, end: signal.Signals, later: float, all_of_them: bool, tmp_path: Path
) -> None:
    """A terminal interrupts all of them; whatever else ends the command ends it alone."""
    if command == "prove":
        require_module("bitwuzla")
    process, _ = started(command, tmp_path)
    time.sleep(later)
    working = children(process.pid)
    (os.killpg if all_of_them else os.kill)(process.pid, end)
    out, complaints = process.communicate(timeout=_SOON)
    assert process.returncode == (130 if end == signal.SIGINT else -end)
    assert end == signal.SIGKILL or (out, complaints) == ("", "")
    assert gone(working)
    assert not (tmp_path / "reports").exists()


@linux
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_an_emulator_ends_with_the_command(end: signal.Signals) -> None:
    require_module("numpy")
    require_tool("bochs")
    process = begun("check", "dumb7.attacks.*", "--on", "ice-lake")
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until and not (working := emulators(process.pid)):
        time.sleep(0.02)
    for one in working:
        os.kill(one, signal.SIGSTOP)  # so that it does not come to its end by itself
    try:
        process.send_signal(end)
        process.communicate(timeout=_SOON)
        assert working
        assert gone(working)
    finally:
        for one in working:
            with suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)


def emulators(parent: int) -> set[int]:
    """Those of the processes that descend from this one which are Bochs."""
    found = set()
    for one in children(parent):
        try:
            if "bochs" in Path(f"/proc/{one}/cmdline").read_text().partition("\0")[0]:
                found.add(one)
        except OSError:  # it has just ended
            continue
    return found


def test_what_was_submitted_is_done_at_the_end() -> None:
    with Workers(2) as workers:
        results = [workers.submit(pow, 3, exponent) for exponent in range(20)]
    assert [one.result() for one in results] == [3**exponent for exponent in range(20)]


def test_an_exception_does_not_wait_for_the_work() -> None:
    workers = Workers(1)
    waiting = workers.submit(time.sleep, 1000)
    workers.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert waiting.cancelled() or isinstance(waiting.exception(), BrokenProcessPool)


def test_a_process_that_ends_is_told() -> None:
    with Workers(1) as workers, pytest.raises(BrokenProcessPool):
        workers.submit(os._exit, 3).result()


def test_no_other_room_starts_processes_of_pythons() -> None:
    using = [path.name for path in Path("analysis").rglob("*.py") if "ProcessPoolExecutor" in path.read_text()]
    assert using == ["workers.py"]


def test_an_interrupt_ends_the_process_that_is_just_starting(monkeypatch: pytest.MonkeyPatch) -> None:
    ending, start = (signal.SIGINT, signal.SIGTERM), SpawnProcess.start
    started: list[SpawnProcess] = []

    def interrupted(process: SpawnProcess) -> None:
        assert [signal.getsignal(one) for one in ending] == handlers
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.05)
        start(process)
        started.append(process)

    monkeypatch.setattr(SpawnProcess, "start", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    handlers = [signal.getsignal(one) for one in ending]
    try:
        with pytest.raises(KeyboardInterrupt), Workers(1) as workers:
            workers.submit(time.sleep, 5)
    finally:
        signal.signal(signal.SIGINT, before)
    assert [process.exitcode for process in started] == [-signal.SIGKILL]
