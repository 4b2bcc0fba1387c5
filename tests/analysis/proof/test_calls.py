"""Functions that call others of their file, and memcpy and memset, are proved; tests/analysis/evil has wrong ones."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from setwise.analysis.code.objects import ObjectError, load
from setwise.analysis.proof.prover import Prover
from setwise.analysis.run.interpreter import MemoryRange, MemoryRanges
from setwise.analysis.semantics import libc
from setwise.analysis.semantics.domains import Bits, Integers
from setwise.analysis.semantics.state import GENERAL, MASKS, VECTORS, ContractViolation, Execution, MachineState
from setwise.analysis.semantics.table import execute
from setwise.analysis.spec.contracts import task_of
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from tests.analysis.corpus import built, cases
from tests.analysis.listings import compiled
from tests.conftest import require_module, require_tool

require_module("bitwuzla")

C = """
#include <stdint.h>
#include <string.h>
typedef uint64_t U;
struct two { U a, b; };
static const U table[4] = {0, 1, 2, 3};
static __attribute__((noinline)) U look(U i) { return table[i & 3] - (i & 3); }
static __attribute__((noinline)) U up(U g) { return (g << 8) + look(g); }
U nested(U g) { return up(g) + look(g >> 7); }
__attribute__((visibility("hidden"), noinline)) U shared(U g) { return up(g); }
U tail(U g) { return shared(g); }
static __attribute__((noinline, cold)) U rare(volatile U g) { return g << 8; }
U cold(U g) { return __builtin_expect(g == 12345, 0) ? rare(g) : up(g); }
static __attribute__((noinline)) U choose(U g, int k) {
    switch (k) {
    case 0: return g;
    case 1: return g << 1;
    case 2: return g << 3;
    case 3: return g * 77;
    case 4: return g << 8;
    case 5: return g ^ 9;
    }
    return 0;
}
U switched(U g) { return choose(g, (int)(g & 7) > 9 ? 3 : 4); }
U recursive(U g) { return g ? 1 + recursive(g & (g - 1)) + up(g & -g) : 0; }
U another(U);
U undefined(U g) { return another(g) << 8; }
U pointed(U g, U (*by)(U)) { return by(g) + 1; }
"""
COPIES = """
U copy(U g) { struct two t, c; t.a = g; t.b = 1; memcpy(&c, &t, sizeof c); return shared(c.a); }
U fill(U g) { U many[9]; memset(many, 0, sizeof many); many[4] = g; return shared(many[4] | many[0]); }
U vary(U g) { U a = g, b = 0; memcpy(&b, &a, g & 8); return b << 8; }
"""
RIGHT, COPYING = ("nested", "tail", "cold", "switched"), ("copy", "fill")
TASK = task_of(lower(find("shift.one.nort"), "x86-64", "sysv"))
REFUSED = {
    "recursive": "recursive calls 'recursive', which calls itself: write the recursion as a loop",
    "undefined": "undefined needs 'another', which the file does not define: join it with the file that does by ld -r",
    "pointed": "only calls of functions by name are followed",
}


@pytest.mark.parametrize(
    "how",
    [
        "gcc -O0",
        "gcc -O2",
        "gcc -Os -ffunction-sections",
        "clang-19 -O0",
        "clang-19 -O2 -fPIC",
        "clang-19 -Oz -ffunction-sections",
    ],
)
def test_calls_in_objects_are_followed(tmp_path: Path, how: str) -> None:
    compiler, *flags = how.split()
    made = compiled(tmp_path, C + COPIES, *flags, "-fno-builtin", compiler=compiler)
    prover = Prover()
    for name in (*RIGHT, *COPYING):
        proof = prover.prove(load(made, name, calls=True), TASK)
        assert (name, proof.status, proof.reason) == (name, "proved", "")
        with pytest.raises(ObjectError, match=r"self-contained|outside the function"):
            load(made, name)
    for name, why in REFUSED.items():
        with pytest.raises(ObjectError) as refused:
            load(made, name, calls=True)
        assert why in str(refused.value)
        assert "\n" not in str(refused.value)
    proof = prover.prove(load(made, "vary", calls=True), TASK)
    assert proof.status == "not proved"
    assert "memcpy" in proof.reason
    assert "only constant sizes up to 4096 bytes" in proof.reason


@pytest.mark.parametrize("how", ["gcc -O2 -shared -fPIC -nostdlib", "clang-19 -O1 -static -nostdlib -Wl,-e,0"])
def test_calls_in_linked_files_are_followed(tmp_path: Path, how: str) -> None:
    compiler, *flags = how.split()
    text = C + "U another(U g) { return g; }\n"
    made = compiled(tmp_path, text, *flags, compiler=compiler)
    for name in RIGHT:
        proof = Prover().prove(load(made, name, calls=True), TASK)
        assert (name, proof.status, proof.reason) == (name, "proved", "")


def test_joined_objects(tmp_path: Path) -> None:
    """A call of a function in another file is followed after `ld -r` has joined the two files."""
    texts = (
        "typedef unsigned long U; U next(U); U f(U g) { return next(g); }",
        "unsigned long next(unsigned long g) { return g << 8; }",
    )
    files = []
    for number, text in enumerate(texts):
        (tmp_path / str(number)).mkdir()
        files.append(compiled(tmp_path / str(number), text))
    with pytest.raises(ObjectError, match="join it with the file that does by ld -r"):
        load(files[0], "f", calls=True)
    subprocess.run([require_tool("ld"), "-r", *files, "-o", tmp_path / "both.o"], check=True)
    assert Prover().prove(load(tmp_path / "both.o", "f", calls=True), TASK).status == "proved"


def nothing(*_: object) -> None:
    pass


BROKEN: dict[str, tuple[object, str, object]] = {
    "copied_number": (libc, "_SPOILT", ()),
    "copied_vector": (libc, "VECTORS", ()),
    "copied_flag": (libc, "UNDEFINED", {}),
    "copied_below": (libc, "_spoil_stack", nothing),
    "copied_unaligned": (Execution, "require", nothing),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_wrong_model_of_calls_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """With it a wrong function of the corpus is proved, which is not otherwise."""
    (case,) = [case for case in cases("evil") if case.label == f"calls/{name}"]
    binary = load(built([case], tmp_path)[case.label], name, calls=True)
    assert Prover().prove(binary, TASK).status != "proved"
    monkeypatch.setattr(*BROKEN[name])
    assert Prover().prove(binary, TASK).status == "proved"


def test_the_distance_of_two_sections_is_not_known(tmp_path: Path) -> None:
    (case,) = [case for case in cases("evil") if case.label == "calls/distance"]
    binary = load(built([case], tmp_path)[case.label], "distance", calls=True)
    assert Prover().prove(binary, TASK).status == "not proved"
    assert binary.layout is not None
    together = replace(binary.layout, pieces=(replace(binary.layout.pieces[0], end=len(binary.text)),))
    assert Prover().prove(replace(binary, layout=together), TASK).status == "proved"


TO, FROM, STACK = 0x1000, 0x2008, 0x3008


class Lost(Integers):
    """Undefined values are 77."""

    def undefined(self, usual: Bits, width: int) -> Bits:
        return 77


def after(name: str, size: int, source: int = FROM) -> tuple[MachineState, bytes]:
    """Run memcpy or memset with this size. Return the state afterwards, and the 64 bytes of the target."""
    blocks = [MemoryRange("target", TO, bytearray(b"\xee" * 64)), MemoryRange("source", FROM, bytearray(range(64)))]
    stack = MemoryRange("stack", STACK - 256, bytearray(256) + (0x4005).to_bytes(8, "little"))
    state = MachineState(Lost(), MemoryRanges([*blocks, stack]))
    state.registers = dict.fromkeys((*GENERAL, *MASKS), 5) | {"rdi": TO, "rsi": source, "rdx": size, "rsp": STACK}
    state.vectors = dict.fromkeys(VECTORS, (5,) * 8)
    goto = execute(libc.library_function(name, 0), state)
    assert goto is not None
    assert (goto.place, goto.condition, state.registers["rsp"]) == (0x4005, None, STACK + 8)
    return state, bytes(blocks[0].content)


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 16, 23, 63])
def test_the_library_copies_and_fills(size: int) -> None:
    for name, source, wanted in (("memcpy", FROM, bytes(range(size))), ("memset", 0x1C3, b"\xc3" * size)):
        state, content = after(name, size, source)
        assert content == wanted.ljust(64, b"\xee")
        left = {register for register, value in state.registers.items() if value == 5}
        assert left == {"rbx", "rbp", "r12", "r13", "r14", "r15"}
        assert state.registers["rax"] == TO
        assert set(state.vectors.values()) == {(77,) * 8}
        assert set(state.flags.values()) == {None}


def test_blocks_that_overlap_are_not_copied() -> None:
    for source in (TO, TO + 7, TO - 7):
        with pytest.raises(ContractViolation, match=r"memcpy.* copies between blocks that overlap"):
            after("memcpy", 8, source)
