"""Each instruction's line is that of the description which made its value, whatever the passes made of that."""

import linecache

import pytest

from setwise.codegen.catalogue import find
from setwise.codegen.ir.lines import recorded
from setwise.codegen.ir.values import Value
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from tests.codegen.programs import routine


def lines_of(kernel: Kernel) -> list[tuple[str, str]]:
    """Each instruction's mnemonic, and the text of its line."""
    made = ((i.mnemonic, i.line) for i in kernel.code.instructions)
    return [(name, linecache.getline(*line[:2]).strip() if line else "") for name, line in made]


def test_of_a_fill() -> None:
    kernel = lower(recorded(find("kogge-stone.attacks.sout")), abi="wiki")
    first, second, third = (
        "gen |= pro & ray.step(gen)",
        "gen |= ray.run(pro, 2) & ray.step(gen, 2)",
        "return gen | ray.run(pro, 4) & ray.step(gen, 4)",
    )
    last = "return ray.step(_flood(ray, gen, ray.path(pro, attacks=True)))"
    made = [line for name, line in lines_of(kernel) if name not in ("mov", "ret")]
    assert made == [*[first] * 3, *[second] * 5, *[third] * 5, last]


def test_of_a_function_of_ones_own() -> None:
    def describe(a: Value, b: Value) -> tuple[Value, ...]:
        free = ~(a | b >> 3)
        gen = free & b << 8
        return (gen + a,)

    kernel = lower(recorded(routine(describe, 2)), "bmi2")
    lines = [line for name, line in lines_of(kernel) if name not in ("mov", "ret")]
    assert set(lines) == {"free = ~(a | b >> 3)", "gen = free & b << 8", "return (gen + a,)"}
    assert lines[-1] == "return (gen + a,)"


@pytest.mark.parametrize(
    ("name", "isa"),
    [
        ("exploding.rook", "x86-64"),
        ("kogge-stone.attacks.any", "bmi2"),
        ("sliders.union", "avx2"),
        ("leapers.kings", "gfni"),
    ],
)
def test_passes_hand_it_on(name: str, isa: str) -> None:
    kernel = lower(recorded(find(name)), isa)
    assert kernel.code == lower(find(name), isa).code
    unmade = {name for name, line in lines_of(kernel) if not line}
    assert unmade <= {"mov", "cmp", "test", "jmp", "je", "jne", "jae", "push", "pop", "vzeroupper", "ret"}
