"""Jobs in a process a core: they come through, and a process that dies or is interrupted is told in one line."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Iterator, Sequence

import pytest

from setwise.analysis.commands.jobs import Job, in_processes, jobs_of
from setwise.analysis.errors import CannotRunHere
from setwise.analysis.progress import Progress
from setwise.codegen.catalogue import find


def some() -> list[Job]:
    return jobs_of([find("shift.one.nort"), find("bytewise.add")], None, None)


def titles(jobs: Sequence[Job], progress: Progress | None) -> Iterator[str]:
    yield from (job.title for job in jobs)


def interrupted(jobs: Sequence[Job], progress: Progress | None) -> Iterator[str]:
    os.kill(os.getpid(), signal.SIGINT)
    yield "still there"


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)


def test_jobs_go_by_name() -> None:
    for job in some():
        assert pickle.loads(pickle.dumps(job)) == job


@pytest.mark.usefixtures("two_cores")
def test_all_jobs_are_done(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(len(some()), shown=True)
    assert sorted(in_processes(titles, some(), progress)) == sorted(job.title for job in some())
    shown = capsys.readouterr().err
    assert all(job.title in shown for job in some())
    assert f"{len(some())}/{len(some())} " in shown


@pytest.mark.usefixtures("two_cores")
def test_an_interrupted_process_ends_without_a_word(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CannotRunHere, match="try them one by one"):
        list(in_processes(interrupted, some()))
    assert capfd.readouterr().err == ""
