"""Object files and libraries, read back by readers that share nothing with what wrote them."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from setwise.codegen.assemble import assemble
from setwise.codegen.export.formats import FORMATS
from setwise.codegen.export.names import symbol
from setwise.codegen.export.objects.archive import archive
from setwise.codegen.export.objects.coff import coff
from setwise.codegen.export.objects.elf import elf
from setwise.codegen.export.objects.relocatable import ObjectFile, object_file, with_endbr64
from setwise.codegen.export.unwind import prologue, stack_bytes, unwind_info
from setwise.codegen.machine.code import Code, vector
from setwise.codegen.machine.convention import WIN64
from setwise.codegen.passes.prologue_epilogue import Frame, add_frame
from tests.codegen.export.exports import assembled, joined, kernel, order, sample, told, written
from tests.codegen.export.relocatable import assert_holds, read
from tests.conftest import require_module, require_tool


@pytest.mark.parametrize("write", [elf, coff])
def test_objects_hold_the_kernels_bytes(write: Callable[[ObjectFile], bytes], tmp_path: Path) -> None:
    for one in sample("sysv", "win64"):
        assert_holds(read(written(tmp_path, one, write)), assemble(one.code), symbol(one))


def test_elf_as_readelf_sees_it(tmp_path: Path) -> None:
    path = written(tmp_path, kernel("exploding.rook"), elf)
    size = len(assemble(kernel("exploding.rook").code).text)
    shown = told("readelf", "-aW", path)
    assert f"{size:5} FUNC    GLOBAL DEFAULT    1 setwise_exploding_rook_x86_64" in shown
    stack = next(line for line in shown.splitlines() if ".note.GNU-stack" in line)
    assert " X " not in stack  # the stack need not be executable
    assert "X86 feature" not in shown


def test_a_kernel_without_data_has_no_section_for_it(tmp_path: Path) -> None:
    path = written(tmp_path, kernel("dumb7.attacks.sout"), elf)
    assert ".rodata" not in told("readelf", "-SW", path)


def test_endbr64_is_there_on_request_and_the_linker_is_told(tmp_path: Path) -> None:
    marked = with_endbr64(kernel("exploding.rook"))
    path = written(tmp_path, marked, elf)
    code = told("objdump", "-d", "--no-show-raw-insn", path)
    tables = {value for datum in marked.code.data for value in datum.values if not isinstance(value, int)}
    assert code.count("\tendbr64") == 1 + len(tables) > 2
    assert_holds(read(path), assemble(marked.code), symbol(marked))
    assert "x86 feature: IBT, SHSTK" in told("readelf", "-nW", path)
    library = tmp_path / "one.so"
    told("gcc", "-shared", "-nostdlib", "-o", library, path)
    assert "x86 feature: IBT, SHSTK" in told("readelf", "-nW", library)


def test_win64_objects_say_how_to_unwind(tmp_path: Path) -> None:
    one = kernel("kogge-stone.attacks.rook.batch", "sse2", "win64")
    path = written(tmp_path, one, coff)
    shown = told("llvm-readobj-19", "--unwind", path)
    assert {kind for _, _, kind, _ in read(path).others} == {"AMD64_ADDR32NB"}
    assert f"StartAddress: {symbol(one)} (0x0)" in shown
    assert f"EndAddress: {symbol(one)} +0x{len(assemble(one.code).text):X} (0x4)" in shown


def test_the_unwinding_of_our_objects_is_that_of_assemblers(tmp_path: Path) -> None:
    """GNU as and llvm-ml make theirs from directives behind each instruction; NASM takes ours as bytes."""
    one = kernel("kogge-stone.attacks.rook.batch", "sse2", "win64")

    def codes(path: Path) -> list[str]:
        shown = told("llvm-readobj-19", "--unwind", path)
        return [
            line.strip() for line in shown.splitlines() if "reg=" in line or "PrologSize" in line or "ALLOC" in line
        ]

    ours = codes(written(tmp_path, one, coff))
    assert len(ours) > 5
    for syntax in ("gas", "att", "masm", "nasm"):
        assert codes(assembled(tmp_path, joined([one], syntax), syntax, "coff")) == ours, syntax


@pytest.mark.parametrize("pushed", range(4))
@pytest.mark.parametrize("slots", range(4))
@pytest.mark.parametrize("vectors", range(1, 3))
def test_saved_vectors_lie_at_multiples_of_16(pushed: int, slots: int, vectors: int) -> None:
    """For so Windows reads them back when it unwinds; rsp is 8 above such a multiple at the entry."""
    saved = (*WIN64.saved[:pushed], *(vector(6 + n, 512) for n in range(vectors)))
    items = add_frame((), Frame(saved, slots), avx=False, wide_result=False)
    code = Code("framed", items)
    steps = prologue(code, assemble(code))
    assert (8 + stack_bytes(steps)) % 16 == 0
    places = [step.amount for step in steps if step.kind == "save"]
    assert len(places) == vectors
    assert all(place % 16 == 0 and 8 * slots <= place <= stack_bytes(steps) - 8 * pushed - 16 for place in places)
    unwind_info(steps)  # says so too


@pytest.mark.parametrize(("write", "microsoft"), [(elf, False), (coff, True)])
def test_libraries_as_binutils_and_llvm_see_them(
    write: Callable[[ObjectFile], bytes], microsoft: bool, tmp_path: Path
) -> None:
    objects = [object_file(one) for one in sample("win64" if microsoft else "sysv")]
    members = {f"{one.symbol}.o": write(one) for one in objects}
    path = tmp_path / "lib.a"
    path.write_bytes(archive(members, {f"{one.symbol}.o": [one.symbol] for one in objects}, microsoft))
    assert told("ar", "t", path).split() == list(members)
    assert told("llvm-ar-19", "t", path).split() == list(members)
    # In the table of symbols, each with its own member.
    table = told("nm", "-s", path).partition("\n\n")[0].splitlines()
    listed = {line.split(" in ")[0]: line.split(" in ")[1] for line in table if " in " in line}
    assert listed == {one.symbol: f"{one.symbol}.o" for one in objects}
    for name, content in members.items():
        assert subprocess.run([require_tool("ar"), "p", path, name], capture_output=True).stdout == content


def test_vector_functions_of_windows_have_their_decorated_name_too() -> None:
    one = object_file(kernel("kogge-stone.attacks.sout", "avx2", "win64"))
    assert one.decorated == "setwise_kogge_stone_attacks_sout_avx2@@64"
    assert not object_file(kernel("kogge-stone.attacks.sout", "avx2", "sysv")).decorated


@pytest.mark.parametrize("form", ["elf", "coff", "macho", "lib"])
def test_every_object_says_whose_it_is_and_no_program_loads_that(form: str, tmp_path: Path) -> None:
    abi = "win64" if form == "coff" else "sysv"
    files = FORMATS[form].files(order([kernel("sliders.union", "avx2", abi)]))
    (content,) = (content for name, content in files.items() if not name.endswith(".h"))
    assert b"SPDX-License-Identifier: MIT-0\n" in content
    lief = require_module("lief")
    path = tmp_path / "one.o"
    path.write_bytes(content)
    if form == "elf":
        file = lief.ELF.parse(str(path))
        assert {str(flag) for flag in file.get_section(".comment").flags_list} <= {"FLAGS.NONE"}
    elif form == "coff":
        file = lief.COFF.parse(str(path))
        (flags,) = (one.characteristics for one in file.sections if one.name == ".comment")
        assert flags & 0xFFF == 0xA00  # information that linkers remove
    elif form == "macho":
        file = lief.MachO.parse(str(path))
        assert file.at(0).get_section("__comment").segment_name == "__DWARF"
