"""What all tests share: finding outside tools, and asking random tests for the same cases every time."""

import gc
import importlib
import os
import shutil
import subprocess
from collections.abc import Iterable
from types import ModuleType
from typing import Any, NoReturn

import pytest
from hypothesis import settings

from setwise.codegen.run.call import missing
from setwise.codegen.run.executable import runnable
from setwise.codegen.targets import TARGETS

# No deadline: nothing here tests time. Derandomised: a failure that one machine sees, every machine sees.
settings.register_profile("setwise", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("setwise")
runs = pytest.mark.skipif(not runnable(), reason="not run: this processor is not x86-64")
gc.set_threshold(100_000, 50, 50)  # as the command does: kernels that are kept hold many objects and no circles


def in_ci() -> bool:
    """Whether this is CI, where nothing may be skipped for want of a tool."""
    return os.environ.get("CI", "").lower() in ("1", "true", "yes")


def few(cases: Iterable[Any], number: int) -> list[Any]:
    """Parameters of which the quick set has the first `number`, and `make check` all."""
    marked = enumerate(case if type(case) is tuple else (case,) for case in cases)
    return [pytest.param(*case, marks=pytest.mark.slow if at >= number else ()) for at, case in marked]


def require_tool(name: str) -> str:
    """The path of a program; where it is missing, the test is not run, and in CI it fails."""
    path = shutil.which(name)
    return path if path is not None else _missing(name)


def require_rust() -> str:
    """The path of a Rust compiler that has AVX-512; where there is none, the test is not run, and in CI it fails."""
    path = require_tool("rustc")
    told = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
    version = tuple(map(int, told.split()[1].split("-")[0].split(".")))
    return path if version >= (1, 89) else _missing("rustc 1.89 or later")


def require_module(name: str) -> ModuleType:
    """The Python module of that name; where it is missing, the test is not run, and in CI it fails."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in (name.partition(".")[0], "six"):
            raise  # it is there, and broken
        _missing(error.name)


def require_set(isa: str) -> None:
    """The instruction set of that name; where this processor lacks it, the test is not run."""
    if lacking := missing(TARGETS[isa]):
        pytest.skip(f"not run: this processor lacks {', '.join(lacking)}")


def _missing(name: str) -> NoReturn:
    if in_ci():
        pytest.fail(f"{name} is missing, and CI may skip nothing", pytrace=False)
    pytest.skip(f"not run: {name} missing")
