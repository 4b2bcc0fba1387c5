"""Machine code that runs, in memory that is never writable and executable at once, and is given back."""

import ctypes
import gc
import platform
from pathlib import Path

import pytest

from setwise.analysis.bench.subjects import arguments_for, subject, timing_loop
from setwise.codegen.assemble import assemble
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from setwise.codegen.run.call import host
from setwise.codegen.run.executable import Executable, NotRunnable, runnable
from setwise.codegen.run.function import Function
from setwise.codegen.run.stopwatch import Stopwatch
from tests.conftest import runs

MAPS = Path("/proc/self/maps")
mapped = pytest.mark.skipif(not runnable() or not MAPS.exists(), reason="it does not run here, or maps are elsewhere")
ANSWER = bytes.fromhex("b82a000000c3")  # mov eax, 42; ret


def permissions(address: int) -> str | None:
    """The rights of the mapping that holds the address, None where nothing is mapped."""
    for line in MAPS.read_text().splitlines():
        bounds, rights = line.split()[:2]
        first, last = (int(bound, 16) for bound in bounds.split("-"))
        if first <= address < last:
            return rights
    return None


def writable_code() -> set[str]:
    """The mappings that are both: other libraries of this process may have some."""
    return {line.split()[0] for line in MAPS.read_text().splitlines() if {"w", "x"} <= set(line.split()[1])}


@mapped
def test_memory_is_never_writable_and_executable(monkeypatch: pytest.MonkeyPatch) -> None:
    others = writable_code()
    before: list[str | None] = []
    real = ctypes.memmove

    def spy(target: int, source: bytes, size: int) -> object:
        before.append(permissions(target))
        return real(target, source, size)

    monkeypatch.setattr(ctypes, "memmove", spy)
    code = Executable(ANSWER * 2000)
    address = code.address()
    assert before == ["rw-p"]
    assert permissions(address) == permissions(address + len(ANSWER) * 2000 - 1) == "r-xp"
    assert writable_code() <= others
    code.close()
    assert permissions(address) is None


@mapped
@pytest.mark.parametrize("length", [6, 8, 4096, 5001])
@pytest.mark.parametrize("data", [1, 64, 4096, 9000])
def test_data_is_read_alone(length: int, data: int) -> None:
    with Executable(ANSWER.ljust(length, b"\xcc") + b"\x01" * data, data) as code:
        first = code.address() + length
        assert first % 4096 == 0
        assert permissions(code.address()) == permissions(first - 1) == "r-xp"
        assert permissions(first) == permissions(first + data - 1) == "r--p"
        assert ctypes.string_at(first, data) == b"\x01" * data
        assert code.function(ctypes.c_uint64)() == 42
    assert permissions(first) is None


@mapped
@pytest.mark.parametrize("name", ["exploding.rook", "shift.one.any", "sliders.rays", "kogge-stone.attacks.noEa"])
def test_no_kernel_has_data_that_can_be_executed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither where it is called nor where it is timed."""
    others = writable_code()
    made: list[tuple[Executable, bytes]] = []
    real = Executable.__init__

    def spy(self: Executable, image: bytes, data: int = 0) -> None:
        real(self, image, data)
        made.append((self, image))

    kernel = lower(find(name), abi=host().name)
    assembled = assemble(kernel.code)
    assert assembled.data
    monkeypatch.setattr(Executable, "__init__", spy)
    function = Function(kernel)
    timed = subject(kernel)
    stopwatch = Stopwatch(timing_loop(timed, "independent"), arguments_for(timed, "independent"))
    holding = [(block, image) for block, image in made if image.endswith(assembled.image)]
    assert len(holding) == 2
    for block, image in holding:
        behind = block.address() + len(image)
        assert permissions(behind - len(assembled.data)) == permissions(behind - 1) == "r--p"
        assert permissions(behind - len(assembled.data) - 1) == "r-xp"
        assert permissions(behind - len(assembled.image)) == "r-xp"
    assert writable_code() <= others
    del function, stopwatch


@mapped
def test_memory_lives_as_long_as_its_last_user() -> None:
    code = Executable(ANSWER)
    address = code.address()
    function = code.function(ctypes.c_uint32)
    del code
    gc.collect()
    assert permissions(address) == "r-xp"
    assert function() == 42
    del function
    gc.collect()
    assert permissions(address) is None


@runs
def test_closing_is_final_and_may_be_repeated() -> None:
    code = Executable(ANSWER)
    code.close()
    code.close()
    with pytest.raises(ValueError, match="closed"):
        code.address()
    with pytest.raises(ValueError, match="closed"):
        code.function(None)


@runs
def test_there_must_be_code() -> None:
    with pytest.raises(ValueError, match="no code to run"):
        Executable(b"")
    with pytest.raises(ValueError, match="no code to run"):
        Executable(ANSWER, len(ANSWER))


def test_another_processor_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert not runnable()
    with pytest.raises(NotRunnable, match=r"^this processor \(aarch64\) cannot run x86-64 code; everything"):
        Executable(ANSWER)
