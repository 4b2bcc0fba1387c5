"""Somebody's functions, and broken ones, are judged in Bochs; nothing of them runs here."""

import json
from pathlib import Path

import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.decode import Binary
from setwise.analysis.commands.main import main
from setwise.analysis.run import emulation
from setwise.analysis.run.check import Outcome
from setwise.analysis.run.emulation import EmulatedCode, check_emulated
from setwise.analysis.run.inputs import make_cases
from setwise.codegen.catalogue import find
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.machine.convention import CONVENTIONS
from setwise.codegen.run.bochs import PROCESSORS
from setwise.codegen.run.call import signature_of
from tests.analysis.listings import assemble, assembled
from tests.conftest import require_module, require_tool

require_module("numpy")

# One step east moves each byte's bits up: a matrix times each rank. One step south takes each rank's bits from the rank
# above, a byte a square.
INDEX = ",".join(str(min(square // 8 + 1, 7)) for square in range(64))
BITS = ",".join(str(1 << square % 8 if square < 56 else 0) for square in range(64))
SOURCE = f"""
.intel_syntax noprefix
.section .rodata
.balign 64
index: .byte {INDEX}
bits: .byte {BITS}
matrix: .quad 0x0001020408102040, 0x0001020408102040
.text
.globl east, south, dropped, astray
.type east,@function
east: movq xmm0,rdi; gf2p8affineqb xmm0,[rip+matrix],0; movq rax,xmm0; ret
.size east,.-east
.type south,@function
south: vpbroadcastq zmm16,rdi; vmovdqa64 zmm17,[rip+index]; vpermb zmm16,zmm17,zmm16; vptestmb k1,zmm16,[rip+bits]
    kmovq rax,k1; ret
.size south,.-south
.type dropped,@function
dropped: vpbroadcastq zmm16,rdi; vptestmb k1,zmm16,[rip+bits]; kmovq rax,k1; ret
.size dropped,.-dropped
.type astray,@function
astray: lea rax,[rdi+rdi]; mov [rax],rdi; ret
.size astray,.-astray
"""
EAST, SOUTH, NORTHS = "shift.one.east", "shift.one.sout", "kogge-stone.attacks.nort.batch"
LIKE = lower(find(SOUTH), "x86-64", "sysv")
RET = b"\xc3"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require_tool("bochs")
    return assembled(tmp_path_factory.mktemp("object"), SOURCE)


def said(capsys: pytest.CaptureFixture[str], file: Path, symbol: str, spec: str, *more: str) -> tuple[int, str, str]:
    status = main(["check", "--object", str(file), "--symbol", symbol, "--spec", spec, "--quick", *more])
    told = capsys.readouterr()
    return status, told.out, told.err


def test_a_function_is_run_on_the_oldest_processor_that_has_its_features(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = said(capsys, made, "south", SOUTH)
    assert (status, out.splitlines()[0]) == (0, "south as shift.one.sout, sysv: passed")
    assert out.splitlines()[1].endswith(" calls on Ice Lake, emulated")
    status, out, _ = said(capsys, made, "east", EAST, "--on", "tigerlake", "--json")
    (row,) = json.loads(out)
    assert status == 0
    assert row["cases"] > 1000
    assert (row["status"], row["on"], row["reason"]) == ("passed", "Tiger Lake, emulated, corrected", "")


def test_a_function_that_is_wrong_or_goes_astray_is_told(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = said(capsys, made, "dropped", SOUTH)
    assert (status, "dropped as shift.one.sout, sysv: failed" in out) == (1, True)
    assert "cases differ" in out
    assert "sliders" in out
    assert ", expected" in out
    status, out, _ = said(capsys, made, "astray", EAST)
    assert status == 1
    assert "page fault 0x4 bytes after the code's start" in out


def test_what_runs_well_is_proved_and_what_does_not_is_refuted(made: Path) -> None:
    require_module("bitwuzla")
    proved = {"east": EAST, "south": SOUTH}
    for symbol, spec in {**proved, "dropped": SOUTH, "astray": EAST}.items():
        arguments = ["--object", str(made), "--symbol", symbol, "--spec", spec]
        assert main(["prove", *arguments]) == (symbol not in proved), symbol


def test_what_cannot_be_run_is_said_with_the_remedy(
    made: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    status, _, err = said(capsys, made, "south", SOUTH, "--on", "haswell")
    assert (status, "Haswell lacks avx512bw, avx512f, avx512vbmi" in err) == (1, True)
    for unwanted in (("--isa", "avx2"), ("sliders.union",)):
        status, _, err = said(capsys, made, "south", SOUTH, *unwanted)
        assert (status, "needs --object FILE --symbol SYM --spec NAME" in err) == (2, True)
    assert main(["check", "--object", str(made)]) == 2
    assert "needs --object FILE" in capsys.readouterr().err
    monkeypatch.setenv("PATH", "")
    for on in ((), ("--on", "icelake")):
        status, _, err = said(capsys, made, "south", SOUTH, *on)
        assert (status, err.strip().endswith("not installed: apt-get install bochs")) == (2, True)


def outcomes(like: Kernel, *texts: bytes) -> list[Outcome]:
    """What becomes of each code in one boot of an Ice Lake, called as this kernel is."""
    require_tool("bochs")
    cases = make_cases(like.routine.contract, quick=True, random_boards=64)
    subjects = [EmulatedCode(Binary(text), signature_of(like)) for text in texts]
    return list(check_emulated(subjects, cases, PROCESSORS["ice-lake"]))


@pytest.mark.parametrize("abi", CONVENTIONS)
def test_a_saved_register_that_changes_is_told(abi: str) -> None:
    kernel = lower(find("kogge-stone.attacks.sout"), "x86-64", abi)
    right = binary_of(kernel).text.removesuffix(RET)
    saved = {one.name: f"not {one.name}" for one in kernel.convention.saved if one.name != "rsp"}
    saved |= {f"xmm{one}": f"pcmpeqd xmm{one},xmm{one}" for one in sorted(kernel.convention.saved_vectors)}
    assert ("rbx" in saved, "xmm6" in saved) == (True, abi != "sysv")
    judged = outcomes(kernel, right + RET, *(right + assemble(change) + RET for change in saved.values()))
    assert judged[0].status == "passed"
    assert [(one.status, one.reason) for one in judged[1:]] == [("failed", f"{name} changed") for name in saved]


def test_wrong_code_is_told_and_ends_nothing_else() -> None:
    right = "mov rax,rdi; shr rax,8; ret"
    wrong = {
        "cases differ": "mov rax,rdi; ret",
        "the direction flag is set": "mov rax,rdi; shr rax,8; std; ret",
        "invalid opcode": "ud2",
        "divide error": "xor ecx,ecx; div rcx; ret",
        "general protection fault": "movaps xmm0,[rsp+4]; ret",
        "page fault outside the code": "xor eax,eax; jmp rax",
    }
    judged = outcomes(LIKE, *(assemble(source) for one in wrong.values() for source in (one, right)))
    assert [one.status for one in judged] == ["failed", "passed"] * len(wrong)
    for what, one in zip(wrong, judged[::2], strict=True):
        assert what in one.reason


def test_inputs_may_not_be_written_and_data_not_executed() -> None:
    sources = ("mov [rdi],rax; ret", "jmp rdi", "jmp rdx", "lea rax,[rip]; mov [rax],rax; ret")
    judged = outcomes(lower(find(NORTHS), "x86-64", "sysv"), *map(assemble, sources))
    inside, outside = "page fault 0x{} bytes after the code's start", "page fault outside the code"
    assert [one.status for one in judged] == ["failed"] * 4
    assert [one.reason for one in judged] == [inside.format(0), outside, outside, inside.format(7)]


@pytest.mark.slow
def test_an_endless_loop_is_told_and_what_is_behind_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulation, "_SECONDS_TO_BOOT", 15.0)
    right = "mov rax,rdi; shr rax,8; ret"
    judged = outcomes(LIKE, *map(assemble, (right, "0: jmp 0b", right)))
    assert [one.status for one in judged] == ["passed", "failed", "passed"]
    assert judged[1].reason.startswith("it has not returned after 15 seconds")
