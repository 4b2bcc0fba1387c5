"""What source in all languages has in common: every operation can be written, and nothing is lost on the way."""

import pytest

from setwise.codegen.catalogue import find
from setwise.codegen.export.sources import c
from setwise.codegen.export.sources.language import folded
from setwise.codegen.export.sources.local_names import Names
from setwise.codegen.export.sources.source import readers_of, source_of
from setwise.codegen.export.sources.zig import three_input_logic
from setwise.codegen.ir.graph import postorder
from setwise.codegen.lower import lower
from setwise.codegen.passes.code_motion import place_values
from tests.codegen.export.exports import kernel
from tests.codegen.export.sources.exported import Functions, every_form, needs, sample

REGISTERS_ONLY = {"store", "reload", "argument", "address", "distance", "load-constant", "entry"}
"""Operations that `source_of` takes away, and those that only registers ask for."""


@pytest.mark.slow
def test_the_sample_has_every_operation_and_region_that_kernels_have() -> None:
    def found(kernels: Functions) -> set[tuple[str, str]]:
        graphs = (postorder(source_of(each).graph.results) for each in kernels.values())
        return {(value.op, value.region.kind if value.region else "") for order in graphs for value in order}

    assert found(every_form()) <= found(sample())


@pytest.mark.slow
def test_what_only_registers_ask_for_is_gone() -> None:
    for each in sample().values():
        ops = {value.op for value in postorder(source_of(each).graph.results)}
        assert not ops & (REGISTERS_ONLY | {"copy"})


def test_three_input_logic_as_expressions() -> None:
    for truth in range(256):
        text = three_input_logic(truth)
        for row in range(8):
            a, b, c = row >> 2 & 1, row >> 1 & 1, row & 1
            assert eval(text, {"a": a, "b": b, "c": c}) & 1 == truth >> row & 1, (truth, text)


def test_logic_overwrites_what_nobody_reads_again() -> None:
    """GCC ties the first operand of vpternlogq to its result: chosen so, it needs no copy of it."""
    each = kernel("sliders.union", "avx512")
    readers = readers_of(place_values(source_of(each).graph))
    assert any(value.op == "ternary" for value in readers)
    text = c.function(each, "f", needs(each))
    for line in (line for line in text.splitlines() if "ternarylogic" in line):
        first = line.split("epi64(")[1].split(",")[0]
        assert text.split(line)[1].count(f"({first},") == text.split(line)[1].count(f", {first},") == 0, line


def test_values_have_names_and_comments_of_the_description() -> None:
    lines = [line.strip() for line in c.function(kernel("kogge-stone.attacks.noEa"), "f", ()).splitlines()]
    assert "const uint64_t not_file_a = 0xfefefefefefefefeULL;" in lines
    at = lines.index("// North-east")
    assert lines[at + 3 : at + 5] == [
        "const uint64_t noea_run = noea_path & (noea_path << 9);",
        "const uint64_t noea_gen2 = noea_gen | (noea_run & (noea_gen << 18));",
    ]
    lanes = c.function(kernel("sliders.union", "avx2"), "f", ())
    assert "// Lanes: north, east, north-east, north-west" in lanes
    assert "// Lanes: north; south, with the ranks reversed" in c.function(kernel("sliders.union", "sse2"), "f", ())
    assert "_mm256_sllv_epi64(gen_3, counts)" in lanes


def test_without_lines_values_are_numbered() -> None:
    text = c.function(lower(find("kogge-stone.attacks.noEa")), "f", ())
    assert "//" not in text
    assert "const uint64_t value2 = " in text


def test_names_avoid_words_of_languages_and_each_other() -> None:
    names = Names({"gen2", "flood"})
    given = [names.new(wanted) for wanted in ("flood", "flood", "union", "Near", "run2", "run2", "gen", "w\u00e4nde")]
    assert given == ["flood2", "flood3", "union_", "near_", "run2", "run2_2", "gen_", "value"]


def test_long_lines_are_broken_behind_commas() -> None:
    line = "    call(" + ", ".join(f"argument{n}" for n in range(30)) + ");"
    lines = list(folded([line, "short"]))
    assert max(map(len, lines)) <= 120
    assert "".join(part.strip() + " " for part in lines[:-1]).strip() == line.strip()
    assert all(part.startswith("        ") for part in lines[1:-1])
    assert lines[-1] == "short"
