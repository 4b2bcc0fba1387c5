"""The longest path: where switches go is read from their tables, and no call executes more."""

from pathlib import Path

import pytest

from setwise.analysis.code.binary import binary_of
from setwise.analysis.code.decode import Binary
from setwise.analysis.code.objects import load
from setwise.analysis.cost.part import longest_path
from setwise.analysis.run.caller import Caller
from setwise.analysis.spec.contracts import task_of
from setwise.codegen.catalogue import find
from setwise.codegen.lower import lower
from tests.analysis.listings import assemble, compiled
from tests.conftest import few


@pytest.mark.parametrize("name", few(["exploding.bishop-corners", "exploding.rook-corners"], 1))
def test_no_call_executes_more(name: str) -> None:
    kernel = lower(find(name))
    binary = binary_of(kernel)
    caller = Caller(binary, task_of(kernel))
    longest = len(longest_path(binary))
    calls = [len(caller.trace((square, number, 0)).instructions) for square in (1, 9, 27) for number in (5, 6, 8)]
    assert longest - 5 <= max(calls) <= longest


def test_a_compilers_switch_is_read(tmp_path: Path) -> None:
    cases = "".join(f"case {n}: b ^= b >> {n}; {'b *= b + 5;' * n} break; " for n in range(6))
    text = f"unsigned long f(unsigned long a, unsigned long b) {{ switch (a) {{ {cases} }} return b; }}"
    made = compiled(tmp_path, text, "-O1", "-fpic", "-fno-reorder-blocks-and-partition")
    path = longest_path(load(made, "f"))
    assert [instruction.mnemonic for instruction in path].count("imul") == 5  # the last way is the longest


@pytest.mark.parametrize(
    ("source", "where"),
    [("jmp rax; ret", "'jmp rax' at offset 0x0"), ("test rdi,rdi; je back; ret; back: jmp [rsp]", "'jmp qword")],
)
def test_a_way_that_is_not_to_be_seen_is_refused(source: str, where: str) -> None:
    with pytest.raises(ValueError, match=f"the longest path is unknown: {where}"):
        longest_path(Binary(assemble(source)))
