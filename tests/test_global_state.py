"""Library calls leave the state of the process as they found it; that belongs to the program that calls them."""

import gc
import locale
import os
import random
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ParamSpec, TypeVar

import numpy as np
import pytest

from setwise.codegen.run.executable import runnable
from tests.conftest import require_module

P = ParamSpec("P")
T = TypeVar("T")

ALL = (1 << 64) - 1
EXAMPLES = Path(__file__).parent / "examples"


def state() -> dict[str, object]:
    mask = os.umask(0)
    os.umask(mask)
    return {
        "garbage collector": (
            gc.isenabled(),
            gc.get_threshold(),
            gc.get_freeze_count(),
            gc.get_debug(),
            [*gc.callbacks],
        ),
        "signal handlers": {one: signal.getsignal(one) for one in signal.valid_signals()},
        "blocked signals": signal.pthread_sigmask(signal.SIG_BLOCK, ()),
        "locale": locale.setlocale(locale.LC_ALL),
        "environment": dict(os.environ),
        "folder": Path.cwd(),
        "umask": mask,
        "sys.path": list(sys.path),
        "streams": (sys.stdin, sys.stdout, sys.stderr),
        "hooks": (sys.excepthook, sys.displayhook, sys.gettrace(), sys.getprofile()),
        "recursion limit": sys.getrecursionlimit(),
        "filters of warnings": list(warnings.filters),
        "processors": os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None,
        "errors in NumPy": np.geterr(),
        "random numbers": (random.getstate(), repr(np.random.get_state())),
    }


def unchanged(call: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    before = state()
    result = call(*arguments, **named)
    changed = [name for name, value in state().items() if value != before[name]]
    assert not changed, f"{call} changes {', '.join(changed)}"
    return result


def main() -> None:
    """In a process of its own, so that imports within the calls are seen too."""
    kernel = unchanged(import_module, "setwise").kernel
    south = unchanged(kernel, "kogge-stone.attacks.sout")
    assert unchanged(south, 1 << 28, ALL) == 0x101010
    assert unchanged(south, np.full(9, 1 << 28, np.uint64), np.full(9, ALL, np.uint64)).tolist() == 9 * [0x101010]
    assert (
        unchanged(unchanged(kernel, f"{EXAMPLES / 'xrays.py'}:xrays.sout"), 1 << 28, 1 << 20, ALL - (1 << 20)) == 0x1010
    )
    south = unchanged(import_module, "tests.examples.xrays").xrays["sout"]
    assert unchanged(south.listing)
    assert unchanged(south.count)["instructions"]
    assert unchanged(south.cost)
    assert unchanged(south.check, quick=True).fine
    assert unchanged(south.prove, "x86-64").fine
    assert unchanged(south.bench, "x86-64", mode="independent", boards=8, patience=0.1)
    with TemporaryDirectory() as folder:
        unchanged(south.export, f"{folder}/exported", "c")


def test_library_calls_change_nothing_of_the_process() -> None:
    require_module("bitwuzla")
    if not runnable():
        pytest.skip("not run: x86-64 code does not run here")
    words = [sys.executable, "-m", "tests.test_global_state"]
    done = subprocess.run(words, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    main()
