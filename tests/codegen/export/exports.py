"""Kernels to export in tests, each made once, and what assembles their listings."""

import subprocess
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from setwise.analysis import api
from setwise.analysis.exports.facts import facts_of
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.export.listings.dialects import DIALECTS, Flavour
from setwise.codegen.export.listings.listing import source
from setwise.codegen.export.names import symbol
from setwise.codegen.export.objects.relocatable import ObjectFile, object_file
from setwise.codegen.export.order import Order
from setwise.codegen.ir.lines import recorded
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.request import Request
from setwise.codegen.targets.table import Refused
from tests.conftest import require_tool

# Every kind of parameter and result, tables of jumps, loops, spilled values, saved registers of both files.
SAMPLE = (
    ("kogge-stone.attacks.sout", "x86-64 bmi2 sse2 avx2 avx512"),
    ("kogge-stone.attacks.noWe", "x86-64 bmi2 sse2 avx2 avx512"),
    ("dumb7.occluded-until-dry.east", "x86-64 bmi2"),
    ("subtraction.attacks.east", "x86-64 sse2 avx2 avx512"),
    ("shift.one.any", "x86-64"),
    ("exploding.rook", "x86-64"),
    ("sliders.union", "x86-64 avx2 avx512 gfni"),
    ("sliders.pair", "avx2 avx512"),
    ("sliders.rays", "x86-64"),
    ("kogge-stone.attacks.east.batch", "x86-64 sse2 avx2 avx512"),
    ("kogge-stone.attacks.rook.batch", "sse2"),
)


@cache
def kernel(name: str, isa: str = "x86-64", abi: str = "sysv", lanes: int | None = None) -> Kernel:
    """One kernel, made once a session."""
    return lower(recorded(find(name)), isa, abi, lanes)


def sample(*abis: str) -> list[Kernel]:
    """The sample in these conventions."""
    return [kernel(name, isa, abi) for name, isas in SAMPLE for isa in isas.split() for abi in abis]


def spread(abi: str = "sysv", which: Callable[[Request], bool] = lambda _: True) -> list[Kernel]:
    """Of the catalogue's kernels all but the other directions: they take turns from one instruction set to the next.

    Every family and form, every shape of arguments and results, every instruction set and number of lanes is there.
    """
    groups: dict[Hashable, list[Request]] = defaultdict(list)
    for job in filter(which, api.requests(list(catalogue().values()), abi=abi)):
        family, form, contract = job.routine.family, job.routine.form, job.routine.contract
        shape = tuple(parameter.kind for parameter in contract.parameters), len(contract.results)
        groups[family, form, shape, job.isa, job.lanes].append(job)
    found = []
    for turn, jobs in enumerate(groups.values()):
        job = jobs[turn % len(jobs)]
        with suppress(Refused):
            found.append(kernel(job.routine.name, job.isa, abi, job.lanes))
    return list(filter(is_its_own, found))


def is_its_own(one: Kernel) -> bool:
    """Whether it is not the code of the instruction set that its own extends."""
    older = one.target.extends
    return older is None or lower(one.routine, older.name, one.convention.name, one.layout.lanes).code != one.code


def order(kernels: Iterable[Kernel]) -> Order:
    """Return an export of these kernels."""
    return Order(tuple(kernels), facts_of, "a test")


def told(*command: str | Path) -> str:
    """Return the output of a program, which must neither fail nor warn."""
    done = subprocess.run([require_tool(str(command[0])), *command[1:]], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr.lower(), done.stderr
    return done.stdout


def written(directory: Path, one: Kernel, write: Callable[[ObjectFile], bytes]) -> Path:
    """The object of a kernel, called as its symbol."""
    path = directory / f"{symbol(one)}.o"
    path.write_bytes(write(object_file(one, "a remark")))
    return path


def flavour_of(kernel: Kernel) -> Flavour:
    """What kind of file the kernel's listing makes."""
    return "coff" if kernel.convention.name == "win64" else "elf"


def apart(kernels: Iterable[Kernel]) -> list[list[Kernel]]:
    """The kernels in groups that one file takes: of one flavour, no symbol twice."""
    groups: dict[tuple[str, str, int], list[Kernel]] = defaultdict(list)
    for one in kernels:
        groups[one.convention.name, one.target.name, one.layout.lanes].append(one)
    return list(groups.values())


def joined(kernels: Sequence[Kernel], syntax: str) -> str:
    """The source of several kernels in one file."""
    lines: list[str] = []
    for one in kernels:
        lines += source(one.code, symbol(one), DIALECTS[syntax], flavour_of(one))
        if lines[-1] == "end":  # MASM's, which comes once
            lines.pop()
    return "\n".join([*lines, "end"] if syntax == "masm" else lines) + "\n"


def assembled(directory: Path, text: str, syntax: str, flavour: Flavour) -> Path:
    """The object that the dialect's own assembler makes of a source, its warnings taken as errors."""
    (directory / "code.s").write_text(text)
    done = subprocess.run(_command(syntax, flavour), cwd=directory, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr + text
    return directory / "code.o"


def _command(syntax: str, flavour: Flavour) -> list[str]:
    if syntax == "nasm":
        form = "elf64" if flavour == "elf" else "win64"
        return [require_tool("nasm"), "-f", form, "-Werror", "-o", "code.o", "code.s"]
    if syntax == "masm":
        return [require_tool("llvm-ml-19"), "-m64", "/nologo", "/WX", "/c", "/Focode.o", "code.s"]
    program = require_tool("as" if flavour == "elf" else "x86_64-w64-mingw32-as")
    return [program, "--fatal-warnings", "-o", "code.o", "code.s"]
