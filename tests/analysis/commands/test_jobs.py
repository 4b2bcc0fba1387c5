"""Jobs in a process a core: they come through, and a process that dies or is interrupted is told in one line."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from setwise.analysis.commands.errors import CannotRunHere
from setwise.analysis.commands.jobs import Job, in_processes, jobs_of
from setwise.analysis.commands.progress import Progress
from setwise.analysis.run.workers import Workers
from setwise.codegen.catalogue import chosen, find
from tests.analysis.commands.running import ROOT


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
    assert sorted(in_processes(titles, some(), str, progress)) == sorted(job.title for job in some())
    shown = capsys.readouterr().err
    assert all(job.title in shown for job in some())
    assert f"{len(some())}/{len(some())} " in shown


@pytest.mark.usefixtures("two_cores")
def test_an_interrupted_process_ends_without_a_word(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CannotRunHere, match="try them one by one"):
        list(in_processes(interrupted, some(), str))
    assert capfd.readouterr().err == ""


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An address at which this process's own threads work."""

    @contextmanager
    def workers_for(dask: str | None, number: int | None = None) -> Iterator[Workers]:
        assert dask == "here:8786"
        with Workers(2, executor) as workers:
            yield workers

    monkeypatch.setattr("setwise.analysis.commands.jobs.workers_for", workers_for)
    with ThreadPoolExecutor(2) as executor:
        yield "here:8786"


def test_whatever_executor_gives_the_same(elsewhere: str) -> None:
    for jobs in (some(), some()[:1]):
        assert sorted(in_processes(titles, jobs, str, dask=elsewhere)) == sorted(job.title for job in jobs)


def test_something_else_that_comes_back_is_refused(elsewhere: str) -> None:
    with pytest.raises(ValueError, match=r"^a worker gives something else than"):
        list(in_processes(titles, some(), int, dask=elsewhere))


def test_a_file_of_ones_own_is_not_looked_for_elsewhere(elsewhere: str) -> None:
    jobs = jobs_of(chosen([f"{ROOT}/tests/examples/knights.py"]), "x86-64", "sysv")
    with pytest.raises(ValueError, match=r"leave --dask out$"):
        list(in_processes(titles, jobs, str, dask=elsewhere))
