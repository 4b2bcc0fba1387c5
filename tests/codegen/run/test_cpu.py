"""What the processor says of itself, against what the kernel lists and against made-up processors."""

import platform
from collections.abc import Iterator
from pathlib import Path

import pytest

from setwise.codegen.run import cpu, executable
from tests.codegen.export.sources.exported import HASWELL, ICE_LAKE, SLOW_PEXT, ZEN_3

CPUINFO = Path("/proc/cpuinfo")
LISTED = {
    "sse4.1": "sse4_1",
    "sse4.2": "sse4_2",
    "avx512vpopcntdq": "avx512_vpopcntdq",
    "avx512bitalg": "avx512_bitalg",
}  # the kernel's names where they differ
ALL = {"bmi1", "bmi2", "popcnt", "ssse3", "sse4.1", "sse4.2", "avx", "avx2", "gfni"}
ALL |= {"avx512f", "avx512vl", "avx512dq", "avx512bw", "avx512vbmi", "avx512vpopcntdq", "avx512bitalg"}
ZMM = {name for name in ALL if name.startswith("avx512")}
SET = 0xFFFF_FFFF


@pytest.fixture
def _undetected() -> Iterator[None]:
    """Asks anew, and forgets the answer afterwards."""
    cpu._detect.cache_clear()
    yield
    cpu._detect.cache_clear()


@pytest.mark.skipif(not executable.runnable() or not CPUINFO.exists(), reason="no list of features to compare with")
def test_the_kernel_lists_the_same_features() -> None:
    lines = dict(line.split(":", 1) for line in CPUINFO.read_text().splitlines() if ":" in line)
    fields = {key.strip(): value for key, value in lines.items()}
    flags = set(fields["flags"].split())
    assert cpu.features() == {name for name in ALL if LISTED.get(name, name) in flags}
    assert cpu.brand() == " ".join(fields["model name"].split())


def made_up(*, last: int = 7, xsave: bool = True, state: int = 0xE7) -> frozenset[str]:
    """The features of a processor with every bit set, apart from what is asked."""

    def cpuid(leaf: int) -> tuple[int, ...]:
        if leaf == 0:
            return (last, 0, 0, 0)
        if leaf == 1 and not xsave:
            return (SET, SET, SET & ~(1 << 27), SET)
        return (SET,) * 4

    def xgetbv() -> int:
        assert xsave, "xgetbv would be an undefined instruction"
        return state

    return cpu._features(cpuid, xgetbv)


def test_a_feature_counts_only_with_its_state_saved_by_the_system() -> None:
    assert made_up() == ALL
    assert made_up(state=0b111) == ALL - ZMM
    assert made_up(state=0b011) == ALL - ZMM - {"avx", "avx2"}
    assert made_up(state=0xE3) == ALL - ZMM - {"avx", "avx2"}
    assert made_up(state=0x67) == ALL - ZMM
    assert made_up(xsave=False) == ALL - ZMM - {"avx", "avx2"}


def test_a_leaf_that_the_processor_lacks_says_nothing() -> None:
    assert made_up(last=1) == {"ssse3", "sse4.1", "sse4.2", "popcnt", "avx"}


@pytest.mark.usefixtures("_undetected")
def test_another_processor_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert cpu.features() == frozenset()
    assert cpu.brand() == ""


def test_pext_is_slow_before_zen_3() -> None:
    def fast(vendor: int, version: int) -> bool:
        return cpu._has_fast_pext(lambda leaf: (version, 0, 0, 0) if leaf else (7, vendor, 0, 0))

    assert not any(fast(*processor) for processor in SLOW_PEXT)
    assert all(fast(*processor) for processor in (ZEN_3, HASWELL, ICE_LAKE))


def test_a_brand_may_be_missing() -> None:
    assert cpu._brand(lambda leaf: (0x8000_0001, 0, 0, 0)) == ""
    words = [int.from_bytes(text, "little") for text in (b"  Te", b"st  ", b"  CP", b"U\0ju")]
    assert cpu._brand(lambda leaf: (0x8000_0004,) if leaf == 0x8000_0000 else tuple(words)) == "Test CPU"
