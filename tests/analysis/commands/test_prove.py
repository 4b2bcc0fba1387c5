"""`setwise prove`: the table, the certificate, what it refuses; and at full length the whole catalogue."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from setwise.analysis import api
from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.decode import Binary, Decoded, decode
from setwise.analysis.commands import prove
from setwise.analysis.proof import solver
from setwise.analysis.proof.certificate import Certificate, Confirmation, Counterexample
from setwise.analysis.proof.prover import Prover
from setwise.analysis.proofs import Proof, prove_kernels
from setwise.analysis.spec import raywalk
from setwise.analysis.spec.contracts import task_of
from setwise.analysis.spec.task import Task
from setwise.codegen.board import square
from setwise.codegen.catalogue import find
from setwise.codegen.export.names import symbol
from setwise.codegen.export.objects.elf import elf
from setwise.codegen.export.objects.relocatable import object_file
from setwise.codegen.lower import lower
from setwise.codegen.numbering import BIG_ENDIAN_FILES
from tests.analysis.commands.running import Capture, complaint, drawings, numbers, printed
from tests.analysis.listings import assembled
from tests.conftest import require_module, require_tool

require_module("bitwuzla")

NAME = "kogge-stone.attacks.noEa"


def test_one_kernel_gives_its_certificate(capsys: Capture) -> None:
    shown = printed(capsys, "prove", NAME, "--isa", "x86-64", "--abi", "wiki")
    assert shown.startswith(f"{NAME}, x86-64, wiki: proved\n")
    for line in (
        "and rcx,[rel ",
        "specification  attacks noEa, square by square",
        "takes          sliders in rdx, empty in rcx",
        "gives          attacks in rax",
        "changes        rax, rcx, rdx\n",
        "restores       rsp\n",
        "solver         bitwuzla 0.",
    ):
        assert line in shown
    assert shown.splitlines()[-1].startswith("proved: ")


def test_several_give_a_table_and_a_sum(capsys: Capture) -> None:
    shown = printed(capsys, "prove", NAME, "--isa", "x86-64")
    assert "3 kernels: 3 proved, 0 refuted, 0 not proved; bitwuzla 0." in shown
    assert shown.count(" proved\n") == 3
    assert shown.splitlines()[0].split() == ["name", "isa", "lanes", "abi", "ms"]
    assert re.search(r"\n\d+\.\d s; CPU time of proofs: \d+\.\d s\n$", shown)


def test_json_has_what_the_table_has_and_more(capsys: Capture) -> None:
    rows = json.loads(printed(capsys, "prove", NAME, "--abi", "sysv", "--json"))
    assert {(row["isa"], row["lanes"]) for row in rows} >= {("x86-64", 1), ("sse2", 2), ("avx2", 4), ("avx512", 8)}
    for row in rows:
        assert row["status"] == "proved"
        assert row["seconds"] >= 0
        assert len(row["sha256"]) == 64
        assert row["solver"].startswith("bitwuzla")


def test_the_same_bytes_are_proved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    proved = []

    def once(prover: Prover, binary: Binary, task: Task, limit: float) -> Certificate:
        proved.append(binary)
        return Certificate("proved", binary, task)

    monkeypatch.setattr(Prover, "prove", once)
    jobs = [job for isa in ("avx512", "gfni") for job in api.requests([find(NAME)], isa, "sysv")]
    assert [proof.status for proof in prove_kernels(jobs)] == ["proved"] * 6
    assert len(proved) == 3


SUBTRACTION = """.intel_syntax noprefix
.globl f; .type f,@function
f: movdqa xmm2,xmm1; psubb xmm1,xmm0; psubb xmm1,xmm0; pxor xmm1,xmm2; movdqa xmm0,xmm1; ret
.size f,.-f
"""


def test_a_counterexample_is_drawn_on_the_routines_board(tmp_path: Path, capsys: Capture) -> None:
    """What tells left from right, held to its mirror image."""
    kernel = lower(find("exploding.direction"))
    made = tmp_path / "direction.o"
    made.write_bytes(elf(object_file(kernel)))
    asked = ("prove", "--object", str(made), "--symbol", symbol(kernel), "--spec", "exploding.direction.big-endian")
    refuted = printed(capsys, *asked, status=1)
    assert "specification  direction-from-square queen, square by square, h1 = 0, a1 = 7, a8 = 63\n" in refuted
    name, number = re.findall(r"\nsquare: (..) \((\d+)\)\ndirection: east \(1\)\n", refuted)[0]
    assert BIG_ENDIAN_FILES.square(name) == int(number)
    drawn = drawings(refuted)
    assert drawn["attacks, expected"] == raywalk.from_square("east", square(name), ~(drawn["white"] | drawn["black"]))
    assert list(map(BIG_ENDIAN_FILES.numbered, drawn.values())) == numbers(refuted)[-4:]


@pytest.mark.parametrize("abi", ["sysv", "win64"])
def test_an_object_may_take_boards_in_lanes(tmp_path: Path, capsys: Capture, abi: str) -> None:
    """Two boards with a subtraction of bytes: right in lanes, not of words, nor of twice as many lanes."""
    made = assembled(tmp_path, SUBTRACTION)
    asked = ("prove", "--object", str(made), "--symbol", "f", "--spec", "subtraction.attacks-cleared.east")
    shown = printed(capsys, *asked, "--abi", abi, "--lanes", "2")
    assert "2 lanes" in shown
    assert "sliders in xmm0, occupied in xmm1" in shown
    refuted = printed(capsys, *asked, "--abi", abi, status=1)
    assert "refuted: attacks is wrong; confirmed by stepping" in refuted
    hint = "it reads xmm1, which is no argument: for boards in vector registers add --lanes 2"
    assert refuted.splitlines()[-1] == hint
    if abi == "sysv":
        assert "wrong for board 2; confirmed" in printed(capsys, *asked, "--lanes", "4", status=1)
    assert "no kernel has 3 lanes" in complaint(capsys, *asked, "--lanes", "3")


TWINS = """
.intel_syntax noprefix
.globl scalar, simd, wrong
.type scalar,@function; .type simd,@function; .type wrong,@function
scalar: mov rax,[rdi+rsi*8]; shl rax,8; mov [rdx],al; ret
simd:   movq xmm0,[rdi+rsi*8]; psllq xmm0,8; mov byte ptr [rdx],0; movq rax,xmm0; ret
wrong:  movq xmm0,[rdi+rsi*8]; psllq xmm0,7; mov byte ptr [rdx],0; movq rax,xmm0; ret
"""


def test_a_function_is_compared_with_another(tmp_path: Path, capsys: Capture) -> None:
    made, header = assembled(tmp_path, TWINS), tmp_path / "twins.h"
    header.write_text("uint64_t simd(const uint64_t boards[4], size_t at, uint8_t *low);\n")
    asked = ("prove", "--object", str(made), "--same-as", "scalar", "--below", "at=4", "--symbol")
    shown = printed(capsys, *asked, "simd", "--prototype-from", str(header))
    for line in (
        "simd as scalar, sysv: proved\n",
        "specification  the results of scalar\n",
        "takes          boards in rdi (the address of 32 bytes, read-only), at in rsi (below 4), low in rdx (the ",
        "gives          result in rax, the bytes of low\n",
    ):
        assert line in shown
    prototype = ("--prototype", "uint64_t wrong(const uint64_t boards[4], size_t at, uint8_t *low)")
    refuted = printed(capsys, *asked, "wrong", *prototype, status=1)
    assert "refuted: result is wrong; confirmed by stepping\nall other words in memory: 0\nat: " in refuted
    at, drawn = re.findall(r"\nat: (\d)", refuted)[0], drawings(refuted)
    assert drawn[f"boards[{at}]"] << 8 & (1 << 64) - 1 == drawn["result, expected"]
    assert drawn[f"boards[{at}]"] << 7 & (1 << 64) - 1 == drawn["result, got"]
    (row,) = json.loads(printed(capsys, *asked, "wrong", *prototype, "--json", status=1))
    assert row["counterexample"]["confirmation"] == "confirmed"


def test_a_time_out_is_an_exit_status_of_1(capsys: Capture) -> None:
    shown = printed(capsys, "prove", NAME, "--isa", "x86-64", "--abi", "sysv", "--time-limit", "1e-6", status=1)
    assert "not proved: the time limit was reached" in shown


def test_a_proof_that_the_processor_does_not_share_fails(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a refutation says: where the processor is of another mind the command says so and ends in 1."""
    kernel = lower(find(NAME), "x86-64", "sysv")
    case = Counterexample("attacks is wrong", (("sliders", (1,)), ("empty", (0,))), 0, (1 << 9,), (0,))
    lie = replace(Prover().prove(binary_of(kernel), task_of(kernel)), status="refuted", counterexample=case)
    said = Confirmation("disagrees", "but this processor gives what is expected: the proof is wrong", (1 << 9,))
    monkeypatch.setattr(api, "prove", lambda *_, **__: [Proof((NAME, "x86-64", 1, "sysv"), lie, said)])
    shown = printed(capsys, "prove", NAME, "--isa", "x86-64", "--abi", "sysv", status=1)
    assert "the proof is wrong" in shown


@pytest.mark.slow
def test_the_whole_catalogue_is_proved(capsys: Capture) -> None:
    rows = json.loads(printed(capsys, "prove", "--json"))
    assert len(rows) > 2000
    assert {row["status"] for row in rows} == {"proved"}


def test_a_formula_that_is_too_large_names_cause_and_remedy(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "_LARGEST_FORMULA", 0)
    shown = printed(capsys, "prove", NAME, "--isa", "x86-64", "--abi", "wiki", status=1)
    assert re.fullmatch("not proved: .*specification.*table.*setwise check.*", shown.splitlines()[-1])


def test_a_difference_between_decoders_is_no_proof(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    require_tool("llvm-mc-19")
    asked = ("prove", NAME, "--isa", "x86-64", "--abi", "sysv")
    assert ": proved\n" in printed(capsys, *asked, "--cross-check")

    def otherwise(text: bytes) -> tuple[Decoded, ...]:
        return tuple(replace(each, mnemonic="nop") for each in decode(text))

    monkeypatch.setattr(prove, "decode", otherwise)
    shown = printed(capsys, *asked, "--cross-check", status=1)
    assert ": not proved\n" in shown
    assert "LLVM's decoder reads" in shown
    assert ": proved\n" in printed(capsys, *asked)


def test_a_missing_second_decoder_is_named(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setenv("PATH", "")
    assert "llvm-mc, is not installed: apt-get install llvm" in complaint(capsys, "prove", NAME, "--cross-check")
