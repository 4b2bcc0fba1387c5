from setwise.analysis.code.compare import disassembly, side_by_side
from setwise.analysis.code.decode import Binary, decode
from tests.analysis.listings import assemble


def test_listings_of_different_length_and_classes() -> None:
    left = Binary(assemble("mov rax,rdi; mov ecx,8; shr rax,cl; and rax,[rsi]; ret"))
    right = Binary(assemble("vzeroupper; ret"))
    lines = side_by_side(("a", left), ("b", right)).splitlines()
    assert [" ".join(line.split()) for line in lines[-5:]] == [
        "1 move",
        "2 operations",
        "1 constant",
        "1 memory operand among them 1 other",
        "4 instructions 1 instruction",
    ]


def test_places_have_names() -> None:
    decoded = decode(assemble("a: test rdx,rdx; jz b; dec rdx; jmp a; b: ret"))
    assert disassembly(decoded) == (".1:", "test rdx,rdx", "je .2", "dec rdx", "jmp .1", ".2:", "ret")


def test_a_ret_that_is_counted_is_shown() -> None:
    source = "test rdx,rdx; jz a; ret; a: xor eax,eax; ret"
    text = side_by_side(("x", Binary(assemble(source))), ("y", Binary(assemble("ret"))))
    assert text.count("ret") == 1
