"""Kernels in a process a core: they come through, and a process that dies or is interrupted is told in one line."""

import os
import pickle
import signal
from collections.abc import Iterator, Sequence

import pytest

from setwise.analysis import api
from setwise.analysis.errors import CannotRunHere
from setwise.analysis.parallel import Show, in_processes
from setwise.codegen.catalogue import find
from setwise.codegen.request import Request


def some() -> list[Request]:
    return api.requests([find("shift.one.nort"), find("bytewise.add")])


def titles(requests: Sequence[Request], _: Show) -> Iterator[str]:
    yield from (request.title for request in requests)


def interrupted(requests: Sequence[Request], _: Show) -> Iterator[str]:
    os.kill(os.getpid(), signal.SIGINT)
    yield "still there"


def test_requests_go_by_name() -> None:
    for request in some():
        assert pickle.loads(pickle.dumps(request)) == request


def test_all_requests_are_judged() -> None:
    shown: list[str] = []
    wanted = sorted(request.title for request in some())
    assert sorted(in_processes(titles, some(), 2, shown.append)) == wanted
    assert sorted(shown) == wanted


def test_an_interrupted_process_ends_without_a_word(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CannotRunHere, match="one by one"):
        list(in_processes(interrupted, some(), 2))
    assert capfd.readouterr().err == ""
