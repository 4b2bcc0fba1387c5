"""CPU features that this processor has and the operating system supports, from CPUID and XCR0."""

import ctypes
import sys
from collections.abc import Callable
from functools import cache

from setwise.codegen.assemble import assemble
from setwise.codegen.machine.code import Code, Instruction, Memory, general
from setwise.codegen.run.executable import Executable, runnable

_AVX_STATE = 0b110  # XCR0: the system saves xmm and ymm
_AVX512_STATE = 0b1110_0110  # and the mask registers, the upper halves of zmm0-15, and zmm16-31
FEATURES = {
    "ssse3": (1, 2, 9, 0),
    "sse4.1": (1, 2, 19, 0),
    "sse4.2": (1, 2, 20, 0),
    "popcnt": (1, 2, 23, 0),
    "avx": (1, 2, 28, _AVX_STATE),
    "bmi1": (7, 1, 3, 0),
    "avx2": (7, 1, 5, _AVX_STATE),
    "bmi2": (7, 1, 8, 0),
    "avx512f": (7, 1, 16, _AVX512_STATE),
    "avx512dq": (7, 1, 17, _AVX512_STATE),
    "avx512bw": (7, 1, 30, _AVX512_STATE),
    "avx512vl": (7, 1, 31, _AVX512_STATE),
    "avx512vbmi": (7, 2, 1, _AVX512_STATE),
    "gfni": (7, 2, 8, 0),
    "avx512bitalg": (7, 2, 12, _AVX512_STATE),
    "avx512vpopcntdq": (7, 2, 14, _AVX512_STATE),
}
"""By feature: CPUID leaf, register (0 eax, 1 ebx, 2 ecx, 3 edx), bit, and a mask of the XCR0 bits that must be set."""
XSAVE = (1, 2, 27)
"""CPUID leaf, register and bit of OSXSAVE: the system has enabled xgetbv."""
_ZEN_3 = 25  # the family of AMD's first processors with pext and pdep in hardware
_MICROCODED = (0x68747541, 0x6F677948)  # ebx of leaf 0 of AuthenticAMD and HygonGenuine, whose older families lack them


def features() -> frozenset[str]:
    """Return those of FEATURES that the processor and its operating system support; none if it is not x86-64."""
    return _detect()[0]


def brand() -> str:
    """Return the processor's brand string from CPUID, or '' if there is none."""
    return _detect()[1]


def has_fast_pext() -> bool:
    """Return whether the processor executes pext and pdep without microcode, if it has them. No bit of CPUID says it.

    They are microcode on Excavator, Zen and Zen 2.
    """
    return _detect()[2]


@cache
def _detect() -> tuple[frozenset[str], str, bool]:
    if not runnable():
        return frozenset(), "", False
    with Executable(assemble(_cpuid(windows=sys.platform == "win32"), "iced").image) as code:
        call = code.function(None, (ctypes.c_uint32, ctypes.c_uint32, ctypes.POINTER(ctypes.c_uint32)))

        def cpuid(leaf: int) -> tuple[int, ...]:
            answer = (ctypes.c_uint32 * 4)()
            call(leaf, 0, answer)
            return tuple(answer)

        return _features(cpuid, _read_state), _brand(cpuid), _has_fast_pext(cpuid)


def _features(cpuid: Callable[[int], tuple[int, ...]], state: Callable[[], int]) -> frozenset[str]:
    last = cpuid(0)[0]
    answers = {leaf: cpuid(leaf) if leaf <= last else (0, 0, 0, 0) for leaf in (1, 7)}
    leaf, register, bit = XSAVE
    saved = state() if answers[leaf][register] >> bit & 1 else 0
    return frozenset(
        name
        for name, (leaf, register, bit, needed) in FEATURES.items()
        if answers[leaf][register] >> bit & 1 and saved & needed == needed
    )


def _has_fast_pext(cpuid: Callable[[int], tuple[int, ...]]) -> bool:
    version = cpuid(1)[0]
    return cpuid(0)[1] not in _MICROCODED or (version >> 8 & 15) + (version >> 20 & 255) >= _ZEN_3


def _brand(cpuid: Callable[[int], tuple[int, ...]]) -> str:
    first = 0x8000_0000
    if cpuid(first)[0] < first + 4:
        return ""
    words = [word for leaf in (first + 2, first + 3, first + 4) for word in cpuid(leaf)]
    text = b"".join(word.to_bytes(4, "little") for word in words)
    return " ".join(text.split(b"\0")[0].decode("ascii", "replace").split())


def _read_state() -> int:
    with Executable(assemble(_xgetbv(), "iced").image) as code:
        return int(code.function(ctypes.c_uint64)())


def _cpuid(*, windows: bool) -> Code:
    """Return code for void cpuid(uint32_t leaf, uint32_t subleaf, uint32_t answer[4]): eax, ebx, ecx and edx."""
    leaf, subleaf, answer = map(general, ("rcx", "rdx", "r8") if windows else ("rdi", "rsi", "rdx"))
    rbx, out = general("rbx"), general("r9")
    eax, ebx, ecx, edx = (general(name).at(32) for name in ("rax", "rbx", "rcx", "rdx"))
    return Code(
        "cpuid",
        (
            Instruction("push", (rbx,)),
            Instruction("mov", (out, answer)),
            Instruction("mov", (eax, leaf.at(32))),
            Instruction("mov", (ecx, subleaf.at(32))),
            Instruction("cpuid"),
            *(
                Instruction("mov", (Memory(32, out, displacement=4 * at), register))
                for at, register in enumerate((eax, ebx, ecx, edx))
            ),
            Instruction("pop", (rbx,)),
            Instruction("ret"),
        ),
    )


def _xgetbv() -> Code:
    """Return code for uint64_t xgetbv(void), which reads XCR0."""
    rax, rdx, ecx = general("rax"), general("rdx"), general("rcx").at(32)
    return Code(
        "xgetbv",
        (
            Instruction("xor", (ecx, ecx)),
            Instruction("xgetbv"),
            Instruction("shl", (rdx, 32)),
            Instruction("or", (rax, rdx)),
            Instruction("ret"),
        ),
    )
