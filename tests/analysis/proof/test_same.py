"""Twins that compilers make are proved equal, their mutants refuted, and pairs made to deceive not proved."""

import re
from pathlib import Path

import pytest

from setwise.analysis.code.decode import Binary
from setwise.analysis.code.objects import ObjectFunction
from setwise.analysis.proofs import Proof, prove_same
from setwise.analysis.spec.prototype import Prototype, find_prototype
from setwise.analysis.spec.task import ReferenceFunction, Task
from tests.analysis.listings import assembled, compiled
from tests.conftest import require_module

require_module("bitwuzla")

HEAD = """
#include <stdint.h>
#include <stdbool.h>
typedef uint64_t U64;
typedef U64 V2 __attribute__((vector_size(16)));
typedef U64 V4 __attribute__((vector_size(32)));
typedef V4 V4u __attribute__((aligned(8), may_alias));
typedef int32_t I8 __attribute__((vector_size(32), may_alias));
typedef uint8_t B16 __attribute__((vector_size(16)));
"""
EAST = "uint64_t f(uint64_t rooks, uint64_t empty)"
FOUR = "void f(const uint64_t in[4], uint64_t out[4])"
EAST_LOOP = """
U64 f(U64 rooks, U64 empty) {
    empty &= 0xfefefefefefefefeULL;
    for (int i = 0; i < 7; i++) rooks |= empty & (rooks << 1);
    return rooks << 1 & 0xfefefefefefefefeULL;
}"""
EAST_SSE2 = """
U64 f(U64 rooks, U64 empty) {
    V2 g = {rooks, 0}, p = {empty & 0xfefefefefefefefeULL, 0};
    g |= p & g << 1;
    p &= p << 1;
    g |= p & g << 2;
    p &= p << 2;
    g |= p & g << 4;
    return ((V2)((B16)g + (B16)g))[0];
}"""
FOUR_LOOP = """
void f(const U64 in[4], U64 out[4]) {
    for (int i = 0; i < 4; i++) { U64 r = in[i]; for (int n = 0; n < 7; n++) r |= r << 8; out[i] = r << 8; }
}"""
FOUR_AVX2 = """
void f(const U64 in[4], U64 out[4]) {
    V4 v = *(const V4u *)in;
    v |= v << 8;
    v |= v << 16;
    v |= v << 32;
    *(V4u *)out = v << 8;
}"""

EQUAL = {
    "a fill with SSE2": (EAST, EAST_LOOP, EAST_SSE2),
    "a fill of four boards with AVX2": (FOUR, FOUR_LOOP, FOUR_AVX2),
    "narrow results": (
        "uint8_t f(uint8_t a, int8_t b)",
        "uint8_t f(uint8_t a, int8_t b) { return a + b; }",
        "uint8_t f(uint8_t a, int8_t b) { return a - (uint8_t)-b; }",
    ),
    "a condition": (
        "bool f(int a, short b)",
        "bool f(int a, short b) { return a > 0 && b < 3; }",
        "bool f(int a, short b) { return !(a <= 0 || b >= 3); }",
    ),
    "two words": (
        "unsigned __int128 f(uint64_t a, uint64_t b)",
        "typedef struct { U64 low, high; } Two; Two f(U64 a, U64 b) { return (Two){a ^ b, a & b}; }",
        "unsigned __int128 f(U64 a, U64 b) { return (unsigned __int128)(a & b) << 64 | ((a | b) - (a & b)); }",
    ),
    "bytes written beside one that is kept": (
        "void f(uint8_t b[3], unsigned char c)",
        "void f(uint8_t b[3], uint8_t c) { b[0] = c; b[2] ^= c; }",
        "void f(uint8_t b[3], uint8_t c) { b[2] = (b[2] | c) - (b[2] & c); b[0] = c; }",
    ),
    "a vector by value": (
        "__m256i f(__m256i a, __m256i b)",
        "V4 f(V4 a, V4 b) { return ~a & b; }",
        "V4 f(V4 a, V4 b) { return (a & b) ^ b; }",
    ),
    "aligned vectors in memory, an argument on the stack": (
        "void f(__m256i *v, long a, long b, long c, long d, long e, int g)",
        "void f(I8 *v, long a, long b, long c, long d, long e, int g) { *v += g; }",
        "void f(int *v, long a, long b, long c, long d, long e, int g) { for (int i = 0; i < 8; i++) v[i] += g; }",
    ),
    "constants of their own objects": (
        "uint64_t f(unsigned char a)",
        "static const U64 t[4] = {7, 1, 0, 9}; U64 f(unsigned char a) { return t[a & 3]; }",
        "static const U64 z[8] = {7, 7, 1, 1, 0, 0, 9, 9}; U64 f(unsigned char a) { return z[2 * (a & 3) + 1]; }",
    ),
    "functions that one of them calls": (
        "void f(uint64_t b[2])",
        "void f(U64 *b) { U64 c = b[0] | 256; b[0] = c; b[1] |= c << 8; }",
        "__attribute__((noinline)) static void g(U64 *b, U64 c) { *b |= c << 8; }"
        "void f(U64 *b) { g(b, 1); g(b + 1, *b); }",
    ),
}  # fmt: skip


def twins(folder: Path, one: str, other: str, prototype: str, compiler: str = "gcc", **bounds: int) -> Proof:
    """Compare `other`, made with AVX2, with `one`, made by gcc for plain x86-64 if it can be."""
    made = []
    for name, text, by in (("one", one, "gcc"), ("other", other, compiler)):
        (folder / name).mkdir(exist_ok=True)
        flags = ("-O3", "-mavx2") if prototype.count("__m256i") or name == "other" else ("-O2",)
        made.append(ObjectFunction(str(compiled(folder / name, HEAD + text, *flags, compiler=by)), "f"))
    return prove_same(made[1], made[0], Prototype(prototype, bounds))


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize("pair", EQUAL)
def test_twins_are_proved(tmp_path: Path, pair: str, compiler: str) -> None:
    prototype, one, other = EQUAL[pair]
    proof = twins(tmp_path, one, other, prototype, compiler)
    assert (proof.status, proof.why) == ("proved", "")


MUTANTS = {
    "a function that is called": ("functions that one of them calls", "|= c << 8;", "|= c << 7;"),
    "a mask": ("a fill with SSE2", "0xfefefefefefefefe", "0xfefefefefefefffe"),
    "a bit of a mask": ("a fill with SSE2", "0xfefefefefefefefe", "0xfefefefefefefcfe"),
    "a shift": ("a fill with SSE2", "g << 4", "g << 5"),
    "a shift in one of several": ("a fill of four boards with AVX2", "v << 16", "v << 17"),
    "the last shift": ("a fill of four boards with AVX2", "= v << 8", "= v << 7"),
    "a condition": ("a condition", "b >= 3", "b > 3"),
    "a sign": ("a condition", "short b", "unsigned short b"),
    "one of two words": ("two words", "(a & b) << 64", "(a | b) << 64"),
    "the last byte": ("bytes written beside one that is kept", "(b[2] & c)", "(b[2] & c & 127)"),
    "a byte that is kept": ("bytes written beside one that is kept", "b[0] = c", "b[0] = b[1] = c"),
    "a byte beside the block": ("bytes written beside one that is kept", "b[0] = c", "b[0] = c; b[3] = c"),
    "an element of a vector": ("aligned vectors in memory, an argument on the stack", "i < 8", "i < 7"),
    "a constant": ("constants of their own objects", "0, 9, 9", "0, 9, 8"),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants_are_refuted(tmp_path: Path, mutant: str) -> None:
    pair, right, wrong = MUTANTS[mutant]
    prototype, one, other = EQUAL[pair]
    assert right in other
    proof = twins(tmp_path, one, other.replace(right, wrong), prototype)
    assert proof.status == "refuted"
    assert proof.confirmation is not None
    assert proof.confirmation.status == "confirmed"


def test_a_table_behind_a_pointer(tmp_path: Path) -> None:
    """Only a bound makes the access one to the table; then the index counts."""
    prototype = "uint64_t f(unsigned sq, const uint64_t table[8])"
    one = "U64 f(unsigned sq, const U64 *t) { return t[sq] ^ t[7 - sq]; }"
    other = "U64 f(unsigned sq, const U64 *t) { U64 x = t[sq ^ 7]; return (x | t[sq]) & ~(x & t[sq]); }"
    assert "'table'" in twins(tmp_path, one, other, prototype).why
    assert twins(tmp_path, one, other, prototype, sq=8).status == "proved"
    proof = twins(tmp_path, one, other.replace("sq ^ 7", "sq ^ 3"), prototype, sq=8)
    assert proof.status == "refuted"
    assert proof.certificate is not None
    found = proof.certificate.counterexample
    assert found is not None
    words = dict(found.words)
    sq, table = words["sq"], [words[f"table[{at}]"] for at in range(8)]
    assert found.expected == (table[sq] ^ table[7 - sq],) != found.got == (table[sq] ^ table[sq ^ 3],)


# Each function is compared with itself or with the one behind it; none may be proved.
DECEIVERS = {
    "memory at the end": ("void f(uint64_t p[2])", "mov qword ptr [rdi+8],1; ret", "mov byte ptr [rdi+8],1; ret"),
    "the block's last byte": ("void f(uint8_t p[7])", "mov byte ptr [rdi+6],1; ret", "mov byte ptr [rdi+6],2; ret"),
    "memory written or not": (
        "uint64_t f(uint64_t *p)", "mov rax,[rdi]; ret", "mov rax,[rdi]; inc qword ptr [rdi]; ret"),
    "memory in one case": ("void f(uint8_t *p, int a)", "ret", "cmp esi,77; jne 1f; not byte ptr [rdi]; 1: ret"),
    "upper bits of the result": ("uint64_t f(uint64_t a)", "mov rax,rdi; ret", "mov eax,edi; ret"),
    "the highest word of a vector": ("__m256i f(__m256i a)", "ret", "vmovdqa xmm0,xmm0; ret"),
    "the second word": (
        "unsigned __int128 f(uint64_t a)", "xor edx,edx; mov rax,rdi; ret", "mov rdx,rdi; mov rax,rdi; ret"),
    "uninitialized stack": ("uint64_t f(uint64_t a)", "mov rax,[rsp-8]; ret"),
    "uninitialized stack as a condition": (
        "uint64_t f(uint64_t a)", "xor eax,eax; cmp qword ptr [rsp-8],3; jne 1f; inc eax; 1: ret"),
    "a register that is no argument": ("uint64_t f(uint64_t a)", "mov rax,r10; ret"),
    "rax unchanged": ("uint64_t f(uint64_t a)", "ret"),
    "a register as a condition": ("uint64_t f(uint64_t a)", "xor eax,eax; cmp r11,3; jne 1f; inc eax; 1: ret"),
    "a vector register": ("uint64_t f(uint64_t a)", "movq rax,xmm9; ret"),
    "upper half of a vector argument": ("__m256i f(__m128i a)", "ret"),
    "upper bits of an int": ("uint64_t f(int a)", "mov rax,rdi; ret"),
    "upper bits of an int on the stack": (
        "uint64_t f(int a, int b, int c, int d, int e, int f, int g)", "mov rax,[rsp+8]; ret"),
    "a flag": ("uint64_t f(uint64_t a)", "setc al; movzx eax,al; ret"),
    "an undefined flag": ("uint64_t f(uint64_t a)", "xor eax,eax; bsf rcx,rdi; setc al; ret"),
    "the stack's address": ("uint64_t f(uint64_t a)", "mov rax,rsp; ret"),
    "the stack's address as a condition": (
        "uint64_t f(uint64_t a)", "xor eax,eax; test esp,32; jz 1f; inc eax; 1: ret"),
    "the code's address": ("uint64_t f(uint64_t a)", "lea rax,[rip+f]; ret"),
    "bits of the code's address": ("uint64_t f(uint64_t a)", "lea rax,[rip+f]; shr rax,12; and eax,255; ret"),
    "the return address": ("uint64_t f(uint64_t a)", "mov rax,[rsp]; ret"),
    "a table's address": (
        "uint64_t f(uint64_t a)", "lea rax,[rip+t]; ret; .section .rodata; t: .quad 5",
        "lea rax,[rip+t]; ret; .section .rodata; t: .quad 6"),
    "another object's table": (
        "uint64_t f(uint64_t a)", "mov rax,[rip+t]; ret; .section .rodata; t: .quad 5",
        "mov rax,[rip+t]; ret; .section .rodata; t: .quad 6"),
    "writes to a read-only block": ("uint64_t f(const uint64_t *p)", "mov rax,[rdi]; mov [rdi],rax; ret"),
    "reads beyond a block": ("uint64_t f(const uint32_t *p)", "mov rax,[rdi]; ret"),
    "reads before a block": ("uint64_t f(const uint64_t *p)", "mov rax,[rdi-8]; ret"),
    "writes beyond a block": ("void f(uint8_t *p)", "mov word ptr [rdi],0; ret"),
    "writes beyond, the same value": ("void f(uint8_t *p)", "mov al,[rdi+1]; mov [rdi+1],al; ret"),
    "from one block into the next": (
        "void f(uint64_t *p, uint64_t *q)", "mov rax,rsi; sub rax,rdi; mov byte ptr [rdi+rax+8],0; ret"),
    "alignment that is not promised": ("void f(uint64_t p[2])", "movdqa xmm0,[rdi]; movdqa [rdi],xmm0; ret"),
    "a register to be restored": ("uint64_t f(uint64_t a)", "mov rbx,rdi; mov rax,rdi; ret", "mov rax,rdi; ret"),
    "the same on the other side": ("uint64_t f(uint64_t a)", "mov rax,rdi; ret", "mov rbx,rdi; mov rax,rdi; ret"),
    "the stack pointer": ("uint64_t f(uint64_t a)", "mov rax,rdi; ret 8", "mov rax,rdi; ret"),
    "one never returns": ("uint64_t f(uint64_t a)", "mov rax,rdi; ret", "1: jmp 1b"),
    "in one case of 2**64": (
        "uint64_t f(uint64_t a)", "mov rax,rdi; ret",
        "mov rax,rdi; mov rcx,0x123456789abcdef; cmp rdi,rcx; jne 1f; inc rax; 1: ret"),
    "a sign": ("uint64_t f(int8_t a)", "movsx rax,dil; ret", "movzx eax,dil; ret"),
    "a bool that is 2": ("bool f(uint64_t a)", "mov eax,2; ret", "mov eax,1; ret"),
    "names of registers": ("uint64_t f(uint64_t *rdi, uint64_t code)", "mov rax,rsi; ret", "mov rax,rdi; ret"),
}  # fmt: skip


@pytest.mark.parametrize("name", DECEIVERS)
def test_what_may_differ_is_not_proved(tmp_path: Path, name: str) -> None:
    prototype, *codes = DECEIVERS[name]
    found = []
    for at, code in enumerate((codes * 2)[:2]):
        folder = tmp_path / str(at)
        folder.mkdir()
        text = f".intel_syntax noprefix\n.globl f\n.hidden f\n.type f,@function\nf: {code}\n".replace(
            "; .sec", "\n.size f,.-f\n.sec"
        )
        found.append(ObjectFunction(str(assembled(folder, text)), "f"))
    for one, other in (found, found[::-1]):
        assert prove_same(one, other, Prototype(prototype)).status != "proved"


REFUSED = {
    "uint64_t f(double a)": "unknown type 'double': write an integer such as uint64_t, ",
    "uint64_t f(struct Board b)": "unknown type 'struct Board': write ",
    "uint64_t f(const Board *b)": "unknown type 'Board': write ",
    "Two f(uint64_t a)": "or unsigned __int128 for two words returned",
    "uint64_t f(unsigned uint8_t a)": "unknown type 'unsigned uint8_t'",
    "uint64_t f(int (*g)(int))": "unknown type ",
    "uint64_t f(int a, ...)": "unknown type '...'",
    "uint64_t f(int a,)": "unknown type ''",
    "uint64_t f(unsigned __int128 a)": "write two of uint64_t",
    "uint64_t *f(int a)": "it returns a pointer, 'uint64_t *': write an array parameter",
    "uint64_t f(uint64_t **a)": "write an array of known size, such as 'uint64_t a[8]'",
    "uint64_t f(uint64_t *a[8])": "points to pointers or arrays",
    "uint64_t f(uint64_t a[])": "'uint64_t a[]' has the size '': write the number of its elements",
    "uint64_t f(uint64_t a[0])": "has the size '0'",
    "uint64_t f(uint64_t a[SQUARES])": "has the size 'SQUARES'",
    "uint64_t f(uint64_t a[1000])": "has 8,000 bytes: write at most 4,096",
    "uint64_t f(bool a[2])": "points to bool: write uint8_t",
    "uint64_t f(int a, int a)": "two parameters are called 'a'",
    "void f(const uint64_t a[2])": "nothing to compare: let it return a value",
    f"__m512i f({', '.join(9 * ['__m512i'])})": "is the ninth vector",
    "f(a)": "'f(a)' is no prototype: write one such as ",
    "": "'' is no prototype",
}


def task(prototype: str, **bounds: int) -> Task:
    return Prototype(prototype, bounds).task(ReferenceFunction("f", Binary(b"\xc3"), None))


@pytest.mark.parametrize("prototype", REFUSED)
def test_a_prototype_that_is_not_understood_is_refused_in_one_line(prototype: str) -> None:
    with pytest.raises(ValueError, match=re.escape(REFUSED[prototype])) as raised:
        task(prototype)
    assert "\n" not in str(raised.value)


def test_a_bound_is_for_an_integer_parameter() -> None:
    for name in ("b", "t"):
        with pytest.raises(ValueError, match=f"'{name}' is no integer parameter: choose from a"):
            task("int f(int a, const int *t)", **{name: 5})
    for kind, most in (("int8_t", 1 << 7), ("uint8_t", 1 << 8), ("bool", 2), ("long", 1 << 63)):
        task(f"int f({kind} a)", a=most)
        with pytest.raises(ValueError, match=f"'a' is always below {most}, which is less than {most + 1}"):
            task(f"int f({kind} a)", a=most + 1)


def test_where_a_prototype_puts_arguments() -> None:
    """In the order of System V, with the sizes and signs of C."""
    first = "unsigned char a, __m128i v, short const b, const uint16_t t[static 2][3]"
    text = f"static inline int f({first}, uint64_t, signed c, long long int d, bool e)"
    found = [(a.name, str(a.place), a.place.bytes, a.place.signed, a.below) for a in task(text).arguments]
    assert found == [
        ("a", "rdi", 1, False, 256),
        ("v[0]", "zmm0", 8, False, 0),
        ("v[1]", "zmm0", 8, False, 0),
        ("b", "rsi", 2, True, 65536),
        ("t", "rdx", 8, False, 0),
        ("t[0..3]", "t at 0", 8, False, 0),
        ("t[4..5]", "t at 8", 4, False, 1 << 32),
        ("argument5", "rcx", 8, False, 0),
        ("c", "r8", 4, True, 1 << 32),
        ("d", "r9", 8, True, 0),
        ("e", "[rsp+8]", 1, False, 2),
    ]
    assert [block.written for block in task("int f(int *const p, int const *q, int r[2])").blocks] == [
        True,
        False,
        True,
    ]


HEADER = """__attribute__((const)) char k(char a);
#define CALL(x) \\
    int f(x);  // int f(int);
/* int f(long a); */
typedef struct { int a; } Pair;
int g(int a) { return f(a); }
extern uint64_t f(uint64_t a,
                  const uint8_t t[64]);
"""


def test_a_header_declares_the_function(tmp_path: Path) -> None:
    file = tmp_path / "some.h"
    file.write_text(HEADER)
    assert find_prototype(str(file), "f") == "extern uint64_t f(uint64_t a, const uint8_t t[64])"
    assert find_prototype(str(file), "g") == "int g(int a)"
    assert find_prototype(str(file), "k") == "char k(char a)"
    (tmp_path / "open.h").write_text("/*" * 400_000)
    for path, name, said in (
        (tmp_path / "open.h", "f", "no declaration of 'f'"),
        (file, "h", "no declaration of 'h'"),
        (tmp_path / "none.h", "f", "no such file"),
    ):
        with pytest.raises(ValueError, match=said):
            find_prototype(str(path), name)


ROTATED = "void f(uint64_t out[4], const uint64_t in[4])"
ALONE = """
void f(U64 *out, const U64 *in) { U64 a = in[0], b = in[1], c = in[2], d = in[3];
    out[0] = b; out[1] = c; out[2] = d; out[3] = a; }"""
APART = """
void f(U64 *out, const U64 *in) {
    for (int i = 0; i < 4; i++) { out[i] = in[(i + 1) & 3]; __asm__("" ::: "memory"); }
}"""


def test_equal_pointers(tmp_path: Path) -> None:
    """A function that writes before it has read all is right only on two arrays."""
    made = []
    for name, text in (("alone", ALONE), ("apart", APART)):
        (tmp_path / name).mkdir()
        made.append(ObjectFunction(str(compiled(tmp_path / name, HEAD + text, "-O1")), "f"))
    one, other = made
    assert prove_same(other, one, Prototype(ROTATED)).status == "proved"
    for pair in (("out", "in"), ("in", "out")):
        assert prove_same(other, one, Prototype(ROTATED, aliases=(pair,))).status == "refuted"
        assert prove_same(one, one, Prototype(ROTATED, aliases=(pair,))).status == "proved"
    file = tmp_path / "spec.py"
    file.write_text("def f(out, given):\n    return given[1:] + given[:1]\n")
    for aliases in ((), (("out", "in"),)):
        assert prove_same(one, f"{file}:f", Prototype(ROTATED, aliases=aliases)).status == "proved"


def test_only_two_arrays_of_one_size_are_equal_pointers() -> None:
    text = "void f(uint64_t a[4], const uint64_t b[4], uint64_t c[2], int d)"
    for pairs, said in (
        ([("a", "x")], "'x' is no pointer parameter: choose from a, b, c"),
        ([("a", "d")], "'d' is no pointer parameter"),
        ([("a", "c")], "'a' and 'c' are no two arrays of one size"),
        ([("a", "a")], "'a' and 'a' are no two arrays"),
        ([("a", "b"), ("b", "a")], "'a' and 'b' are no two arrays of one size: name two such parameters, once"),
    ):
        with pytest.raises(ValueError, match=said):
            Prototype(text, aliases=tuple(pairs)).task(ReferenceFunction("f", Binary(b"\xc3"), None))
