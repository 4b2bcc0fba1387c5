"""Long straight code ends within the limits of time and memory, in a verdict."""

import os
import resource
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.proof import solver
from setwise.analysis.proof.prover import Prover
from setwise.analysis.spec.contracts import task_of
from setwise.codegen.catalogue import find
from setwise.codegen.request import Request
from tests.analysis.listings import assembled
from tests.conftest import require_module

require_module("bitwuzla")

LIMIT = 5  # seconds of processor time that are asked for
MORE = 5  # that it may take besides
MEMORY = 2 << 20  # KiB
TABLE, LOOK_UP = "lea r8,[rip+zeros]", "and edx,7; movzx edx,byte ptr [r8+rdx]"
# What stands before, how often what is repeated, what stands behind; all of at most 64 KiB.
KINDS = {
    "shifts with carry": ("mov rcx,rdi; mov rdx,rsi", 5_000, "shl rdx,cl", "jc 1f; 1: ret"),
    "additions": (f"{TABLE}; mov rdx,rdi; and rdx,1", 900, "or rdx,rdi; add rdx,rdi", f"{LOOK_UP}; ret"),
    "pdep and pext": ("nop", 6_000, "pdep rdx,rdx,rdi; pext rdx,rdx,rdi", "ret"),
    "permutations of bytes": ("nop", 5_000, "vpermb zmm0,zmm0,zmm1", "ret"),
    "deep sums": ("nop", 9_900, "add rax,rdi; xor rax,rsi", "ret"),
    "branches": ("nop", 5_000, "test rsi,rdi; jz 1f; add rsi,rdi; 1:", "ret"),
    "multiplications": ("mov rdx,rdi", 9_000, "imul rdx,rdx; add rdx,rsi", "mov rcx,rdx; or rcx,1; jz 1f; 1: ret"),
    "stores at one place": ("mov [rsp-8],rdi", 5_000, "add [rsp-8],rsi; rol qword ptr [rsp-9],3", "ret"),
    "variable shifts": ("mov rcx,rsi", 10_000, "shl rax,cl; ror rcx,cl", "ret"),
    "look-ups": (f"{TABLE}; mov rdx,rdi", 4_000, f"{LOOK_UP}; xor edx,edi", "ret"),
    "shuffles": (f"{TABLE}; vmovq xmm0,rdi", 12_000, "vpshufb ymm0,ymm0,ymm1", f"vmovq rdx,xmm0; {LOOK_UP}; ret"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_long_code_ends_within_the_limits(kind: str, tmp_path: Path) -> None:
    before, often, repeated, behind = KINDS[kind]
    text = f""".intel_syntax noprefix
.globl f
.type f,@function
f: mov rax,rdi
shl rax,8
{before}
.rept {often}
{repeated}
.endr
{behind}
.size f,.-f
.section .rodata
.p2align 6
zeros: .zero 64
"""
    made = assembled(tmp_path, text)
    command = f"-m setwise prove --object {made} --symbol f --time-limit {LIMIT} --spec shift.one.nort"
    words = [sys.executable, *command.split(), *(["--lanes", "8"] if "zmm0" in repeated else [])]
    with (tmp_path / "said").open("w+") as said:
        started = subprocess.Popen(words, stdout=said, stderr=said, preexec_fn=_limited)
        _, status, usage = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        printed = said.read()
    assert started.returncode in (0, 1), f"ends with {started.returncode}: {printed[-2000:]}"
    assert "Traceback" not in printed
    assert usage.ru_maxrss <= MEMORY


def _limited() -> None:
    """Ends what goes on and on."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT + MORE, LIMIT + MORE))


def test_a_proof_s_limit_is_its_own_processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the time that it waits counts, within the solver, nor that of other threads of the process."""
    kernel = Request(find("side.pieces.white")).kernel
    limit, waited, hours = 2.0, [0.0], count(step=3600.0)

    def memory() -> int:
        if waited[0] <= limit:
            start = time.monotonic()
            time.sleep(limit / 8)
            waited[0] += time.monotonic() - start
        return 0

    monkeypatch.setattr(solver, "_memory", memory)
    monkeypatch.setattr(time, "process_time", lambda: next(hours))
    certificate = Prover().prove(binary_of(kernel), task_of(kernel), limit)
    assert waited[0] > limit
    assert certificate.status == "proved", certificate.reason
    assert certificate.seconds < limit
