"""Functions on a board of 64 bytes are proved and refuted by a specification in Python."""

import re
from pathlib import Path

import pytest

from setwise.analysis.code.objects import ObjectFunction
from setwise.analysis.commands.prove import certificate_text
from setwise.analysis.proofs import Proof, prove_same
from setwise.analysis.spec.prototype import Prototype
from tests.analysis.listings import assembled, compiled
from tests.conftest import require_module

require_module("bitwuzla")

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "proofs.md").read_text("utf-8")
KERNELS = {name: (ROOT / "tests" / "data" / f"ray_masks_{name}.s").read_text("utf-8") for name in ("avx2", "vbmi")}
MASKS = "void ray_masks(uint64_t out[4], const uint8_t board[64], uint64_t square, uint64_t piece)"
PIECES = "pPnNbBrRqQkK"


def on_page(name: str) -> str:
    """The file that the page shows."""
    (found,) = re.findall(rf"^\$ cat {re.escape(name)}\n(.*?)^(?=```|\$ )", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


def judged(folder: Path, text: str) -> Proof:
    """The proof of a ray-mask function in assembly by the page's specification."""
    file = folder / "ray_masks.py"
    file.write_text(on_page("ray_masks.py"))
    function, bounds = ObjectFunction(str(assembled(folder, text)), "ray_masks"), {"square": 64, "piece": 12}
    return prove_same(function, f"{file}:ray_masks", Prototype(MASKS, bounds, (f"{file}:legal",), pieces=PIECES))


def test_the_specification_is_short() -> None:
    assert len(on_page("ray_masks.py").splitlines()) <= 40


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
def test_ray_masks_are_proved(tmp_path: Path, name: str) -> None:
    proof = judged(tmp_path, KERNELS[name])
    assert (proof.status, proof.why) == ("proved", "")


MUTANTS = {
    "avx2": (
        ("vpandn ymm8, ymm1, ymm6", "vpand ymm8, ymm1, ymm6"),
        ("vpor ymm6, ymm6, ymm8", "vpand ymm6, ymm6, ymm8"),
        ("vpor ymm7, ymm7, ymm9", "vmovdqa ymm7, ymm9"),
        ("vpcmpeqq ymm2, ymm8, ymm15", "vpcmpeqq ymm2, ymm9, ymm15"),
        ("vpor ymm4, ymm4, ymm3", "vpor ymm4, ymm4, ymm2"),
        ("shl ecx, 6", "shl ecx, 5"),
        ("vpandn ymm9, ymm4, ymm9", "vpandn ymm9, ymm5, ymm9"),
        ("MASK ymm0, ymm1, 8", "MASK ymm1, ymm0, 8"),
        (".byte 1,2,4,4,8,8,16,16,32,32,64,64,0,0,0,0", ".byte 1,2,4,4,8,8,16,16,32,16,64,64,0,0,0,0"),
        (".byte 4,48,48,48,48,48,48,48,4,41", ".byte 4,48,48,48,48,48,48,48,4,40"),
    ),
    "vbmi": (
        ("shl edx, 6", "shl edx, 5"),
        ("0xb0", "0xf0"),
        ("0x4e", "0xb1"),
        ("vptestmb k3{k2}, zmm0, zmm0", "vptestmb k3, zmm0, zmm0"),
        ("vptestmq k1, zmm0, zmm0", "vptestmq k1, zmm1, zmm1"),
        ("vptestmb k5, zmm0, zmm0", "vptestmb k5, zmm1, zmm1"),
        ("kmovq [rdi+24], k6", "kmovq [rdi+24], k5"),
        ("rcx*8", "rcx*4"),
        ("vptestnmb k1", "vptestmb k1"),
        (".byte 1,2,4,4,8,8,16,16,32,32,64,64,0,0,0,0", ".byte 1,2,4,4,8,8,16,16,32,16,64,64,0,0,0,0"),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_refuted_with_a_board(tmp_path: Path, name: str) -> None:
    for old, new in MUTANTS[name]:
        assert old in KERNELS[name], old
        proof = judged(tmp_path, KERNELS[name].replace(old, new))
        assert (proof.status, new) == ("refuted", new), proof.why
        drawn = certificate_text(proof).partition("\nboard\n")[2].splitlines()[:8]
        assert [rank for rank in drawn if re.fullmatch(rf"[.{PIECES}]( [.{PIECES}]){{7}}", rank)] == drawn


def test_a_requirement_must_hold(tmp_path: Path) -> None:
    """A byte of 16 or more is no piece, and the function reads a table by it."""
    file = tmp_path / "spec.py"
    file.write_text("def least(board, n):\n    return board[0] & 15\ndef small(board, n):\n    return board[0] < 16\n")
    made = compiled(tmp_path, "unsigned char f(const unsigned char *board, unsigned n) { return board[0]; }")
    function, prototype = ObjectFunction(str(made), "f"), "uint8_t f(const uint8_t board[64], uint32_t n)"
    assert prove_same(function, f"{file}:least", Prototype(prototype)).status == "refuted"
    proof = prove_same(function, f"{file}:least", Prototype(prototype, requires=(f"{file}:small",)))
    assert proof.status == "proved"


WRITTEN = "void f(uint16_t out[3], const uint8_t in[3], int8_t a)"
SAME = {
    "bytes, words and an integer": "[board + a for board in b]",
    "a tuple": "(b[0] + a, b[1] + a, b[2] + a)",
}


@pytest.mark.parametrize("returned", SAME)
def test_elements_of_any_size(tmp_path: Path, returned: str) -> None:
    head = "void f(unsigned short *o, const unsigned char *i, unsigned char a)"
    text = head + " { for (int k = 0; k < 3; k++) o[k] = i[k] + a; }"
    file = tmp_path / "spec.py"
    file.write_text(f"def f(out, b, a):\n    return {SAME[returned]}\n")
    function = ObjectFunction(str(compiled(tmp_path, text)), "f")
    assert prove_same(function, f"{file}:f", Prototype(WRITTEN.replace("int8_t a", "uint8_t a"))).status == "proved"


WRONG = {
    "return [1, 2]": "spec.py:1: .*returns 2 elements for an array: return a list of 3",
    "return 7": "a value of type int for an array",
    "return None": "a value of type NoneType for an array",
    "return [1, 2, 'x']": "TypeError",
    "return [b[3], 0, 0]": "spec.py:2: .*IndexError",
    "return [1 if a else 0, 0, 0]": "tests a word",
    "import random; return [random.getrandbits(16)] * 3": "let it depend on its arguments alone",
}


@pytest.mark.parametrize("body", WRONG)
def test_a_wrong_specification_is_one_line(tmp_path: Path, body: str) -> None:
    file = tmp_path / "spec.py"
    file.write_text(f"def f(out, b, a):\n    {body}\n")
    function = ObjectFunction(str(compiled(tmp_path, "void f(void) {}")), "f")
    proof = prove_same(function, f"{file}:f", Prototype(WRITTEN))
    assert proof.status == "not proved"
    assert re.search(WRONG[body], proof.why)
    assert "\n" not in proof.why


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none.py:f", "there is no file"),
        ("spec.py:g", "'g' is no function of this file"),
        ("spec.py", "is no function"),
        ("spec.py:knight", "is a routine: write --spec"),
    ],
)
def test_a_missing_function_is_named(tmp_path: Path, name: str, said: str) -> None:
    routine = "import setwise\n@setwise.routine\ndef knight(b: setwise.Board) -> setwise.Board:\n    return b << 17\n"
    (tmp_path / "spec.py").write_text(routine)
    function = ObjectFunction(str(compiled(tmp_path, "int f(void) { return 1; }")), "f")
    with pytest.raises(ValueError, match=said):
        prove_same(function, str(tmp_path / name), Prototype("int f(void)"))
