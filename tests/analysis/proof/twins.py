"""Prove twins in public engines and Othello programs: functions that they have in plain C and with intrinsics.

`python -m tests.analysis.proof.twins FOLDER` takes a folder of checkouts, each called after its repository, compiles
the twins with the flags of their makefiles (without link-time optimization), and prints a verdict for each pair. Each
version of a function is called by `twin`, which is written here and has the same prototype in both objects. It also
keeps to the inputs that the program passes: an Othello position has no square with two discs.

With `--mutants N`, N mutants of each function that is proved are judged as well. Those that are proved are stepped on
random inputs: any other result than the function's is a fault of the prover.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from setwise.analysis.code.decode import Binary, decode
from setwise.analysis.code.objects import ObjectFunction
from setwise.analysis.proof.certificate import Counterexample
from setwise.analysis.proof.concrete_execution import replayed
from setwise.analysis.proof.prover import Prover
from setwise.analysis.semantics.state import SemanticsError
from setwise.analysis.spec.prototype import Prototype
from setwise.analysis.spec.task import ReferenceFunction, Task
from tests.analysis.mutants import Mutant, mutants

COMPILERS = {"gcc": ("gcc", "g++"), "clang": ("clang-19", "clang++-19")}
BOARDS = "uint64_t twin(uint64_t P, uint64_t O)"
SQUARE = "uint64_t twin(unsigned x, uint64_t P, uint64_t O)"
COUNT = "int twin(unsigned x, uint64_t P)"
WORD = "uint64_t twin(uint64_t b)"
BITS = "uint64_t twin(uint64_t b, uint64_t mask)"
BYTES = "void twin(const uint8_t in[64], uint8_t out[64])"


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a function: compiler flags, the files to include, and the body of `twin`, which calls it.

    Files in braces are in a namespace without a name: then a compiler knows all that writes their variables.
    """

    flags: str
    files: str
    body: str
    before: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two versions of a function in the folder of a checkout. The first is the specification."""

    folder: str
    name: str
    prototype: str
    versions: Sequence[Version]
    language: str = "c++"
    below: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """The verdict on a pair."""

    pair: Pair
    compiler: str
    verdict: str
    reason: str = ""
    seconds: float = 0.0
    mutants: Counter[str] = field(default_factory=Counter)
    """The verdicts on its mutants."""


def _edax() -> Iterator[Pair]:
    """Yield the pairs of Edax: discs that a move flips, counts of the last move, mobility and symmetries."""
    folder = "edax-reversi/src"
    base = "-std=c17 -D_GNU_SOURCE=1 -O3 -ffast-math -fomit-frame-pointer -DNDEBUG -fwhole-program -march="
    files = "options.h bit.c flip.c board.c"
    apart = "O &= ~P; P &= ~(1ull << {0}); O &= ~(1ull << {0}); "

    def flip(name: str, level: str, body: str) -> Version:
        return Version(f"{base}x86-64{level} -DMOVE_GENERATOR=MOVE_GENERATOR_{name}", files, body)

    for square, x in (("C4", 26), ("A1", 0), ("G7", 54)):
        plain = flip("KINDERGARTEN", "", apart.format(x) + f"return flip_{square}(P, O);")
        turned = "HGFEDCBA"[x % 8] + str(8 - x // 8)  # Roxane counts from H8
        for name, level, its in (("CARRY_64", "", square), ("ROXANE", "", turned), ("BITSCAN", "-v2", square)):
            other = flip(name, level, apart.format(x) + f"return flip_{its}(P, O);")
            yield Pair(folder, f"flip {square}: {name}", BOARDS, (plain, other), "c")
        for name, level in (("SSE_BITSCAN", "-v2"), ("AVX_ACEPCK", "-v3"), ("BMI2", "-v3"), ("AVX512CD", "-v4")):
            more = " -DAVX512" if level == "-v4" else ""
            other = flip(name, level + more, apart.format(x) + f"return flip({x}, P, O);")
            yield Pair(folder, f"flip {square}: {name}", BOARDS, (plain, other), "c")
    body = apart.format("x") + "return flip(x, P, O);"
    plain = flip("AVX_LZCNT", "-v3", body)
    for name in ("AVX_ACEPCK", "AVX_CVTPS", "AVX_PPFILL", "AVX_PPSEQ", "BMI2", "SSE_BITSCAN"):
        yield Pair(folder, f"flip any: {name}", SQUARE, (plain, flip(name, "-v3", body)), "c", "x=64")

    def count(name: str, level: str, before: str = "") -> Version:
        body = "return count_last_flip(x, P & ~(1ull << x));"
        return Version(f"{base}x86-64{level} -DCOUNT_LAST_FLIP=COUNT_LAST_FLIP_{name}", files, body, before)

    plain = count("PLAIN", "")
    for name, level in (("SSE", "-v2"), ("LZCNT", "-v3"), ("BMI", "-v3"), ("BMI2", "-v3"), ("AVX_PPFILL", "-v3")):
        yield Pair(folder, f"count_last_flip: {name}", COUNT, (plain, count(name, level)), "c", "x=64")
    board = "void twin(const uint64_t in[2], uint64_t out[2])"
    for name, prototype, body in (
        ("get_moves", BOARDS, "O &= ~P;\n#ifdef __AVX2__\nreturn get_moves_avx2(_mm256_set1_epi64x(P),"
         " _mm256_set1_epi64x(O));\n#else\nreturn get_moves(P, O);\n#endif\n"),
        ("get_potential_moves", BOARDS, "return get_potential_moves(P, O & ~P);"),
        ("transpose", WORD, "return transpose(b);"),
        ("get_full_lines", "uint64_t twin(uint64_t b, uint64_t out[4])", "return get_full_lines(b, out);"),
        ("get_corner_stability", WORD, "return get_corner_stability(b);"),
        ("bit_count_64", WORD, "return bit_count_64(b);"),
        ("bit_weighted_count", WORD, "return bit_weighted_count(b);"),
        ("bswap_64", WORD, "return bswap_64(b);"),
        *(
            (f"board_symetry {s}", board, f"board_symetry((const Board *)in, {s}, (Board *)out);")
            for s in (1, 2, 4, 7)
        ),
        ("board_unique", "int twin(const uint64_t in[2], uint64_t out[2])",
         "return board_unique((const Board *)in, (Board *)out);"),
    ):  # fmt: skip
        one, other = (Version(f"{base}x86-64{level}", files, body) for level in (" -mpopcnt -DUSE_SIMD=0", "-v3"))
        yield Pair(folder, name, prototype, (one, other), "c")


def _egaroucid() -> Iterator[Pair]:
    """Yield the pairs of Egaroucid: mobility, flips, symmetries and lines."""
    folder = "Egaroucid/src/engine"
    flags = "-std=c++20 -O3 -fno-exceptions "

    def version(name: str, body: str) -> Version:
        files, more = {
            "generic": ("bit.hpp { flip.hpp mobility.hpp }", "-DHAS_NO_AVX2 -march=x86-64"),
            "simd": ("bit.hpp { flip.hpp mobility.hpp }", "-march=x86-64-v3"),
            "avx512": ("bit.hpp { flip.hpp mobility.hpp }", "-DHAS_AVX512 -march=x86-64-v4"),
        }[name]
        return Version(flags + more, files, body)

    disjoint = "O &= ~P; "
    for name, prototype, body in (
        ("calc_legal", BOARDS, disjoint + "mobility_init(); return calc_legal(P, O);"),
        ("calc_flip D4", BOARDS, disjoint + "P &= ~(1ull << 27); O &= ~(1ull << 27); flip_init(); Flip f;"
         " return f.calc_flip(P, O, 27);"),
        ("white_line_mirror", WORD, "return white_line_mirror(b);"),
        ("black_line_mirror", WORD, "return black_line_mirror(b);"),
        ("vertical_mirror", WORD, "return vertical_mirror(b);"),
        ("horizontal_mirror", WORD, "return horizontal_mirror(b);"),
        ("rotate_90", WORD, "return rotate_90(b);"),
        ("rotate_180", WORD, "return rotate_180(b);"),
        ("join_h_line", "uint8_t twin(uint64_t b, int x)", "return join_h_line(b, x);"),
        ("join_v_line", "uint8_t twin(uint64_t b, int x)", "return join_v_line(b, x);"),
        ("split_v_line", "uint64_t twin(uint8_t b, int x)", "return split_v_line(b, x);"),
    ):  # fmt: skip
        below = "x=8" if "int x" in prototype else ""
        yield Pair(folder, name, prototype, (version("generic", body), version("simd", body)), below=below)
        if "calc" in name:
            yield Pair(folder, f"{name} AVX-512", prototype, (version("simd", body), version("avx512", body)))


def _reversi() -> Iterator[Pair]:
    """Yield the pairs of reversi: symmetries of two boards, and pattern indices in base 3."""
    folder = "reversi/c/src"
    flags = "-std=c18 -D_POSIX_C_SOURCE=200112L -O3 -fpic -mavx2 -mbmi -mbmi2 -mlzcnt -mpopcnt "
    two = "void twin(uint64_t in[2], __m128i out[1])"
    for name in ("flip_horizontal", "flip_vertical", "flip_diag_a1h8", "flip_diag_h1a8"):
        scalar = f"uint64_t *o = (uint64_t *)out; for (int i = 0; i < 2; i++) o[i] = board_trans_{name}(in[i]);"
        simd = f"board_trans_{name}_vec(in, (uint64_t *)out);"
        versions = [Version(flags, "board_trans.c", body) for body in (scalar, simd)]
        yield Pair(folder, name, two, versions, "c")
    rotated = "void twin(const uint64_t in[2], uint64_t out[16])"
    call = "board_pattern_compute_rotated{}((const board_t *)in, (board_pattern_rotated_t *)out);"
    files = "board_trans.c board_pattern.c"
    versions = [Version(flags + "-DNDEBUG", files, call.format(which)) for which in ("", "_vec")]
    yield Pair(folder, "compute_rotated", rotated, versions, "c")
    index = "unsigned twin(uint64_t in[2])"
    for squares in (8, 10):
        mask = (1 << squares) - 1
        body = f"in[0] &= {mask}; in[1] &= {mask} & ~in[0];"
        call = f" return board_pattern_packed_to_index{{}}((board_t *)in, {squares});"
        versions = [Version(flags + "-DNDEBUG", files, body + call.format(which)) for which in ("", "_vec")]
        yield Pair(folder, f"packed_to_index, {squares} squares", index, versions, "c")


def _issen() -> Iterator[Pair]:
    """Yield the pairs of issen: symmetries of one word, and of two and four at once."""
    folder = "issen/src"
    flags = "-std=c++14 -O3 -march=haswell -mtune=haswell -I../include"
    init = "bit_manipulations::init(); "
    for name, first in (
        ("mirrorHorizontal", ""), ("flipDiagA1H8", ""), ("flipDiagA8H1", ""), ("flipVertical", init),
        ("pseudoRotate45clockwise", init),
    ):  # fmt: skip
        for words, kind, vector in ((2, "board", "__m128i"), (4, "double_board", "__m256i")):
            call = f"bit_manipulations::{name}"
            bodies = (
                f"for (int i = 0; i < {words}; i++) ((uint64_t *)b)[i] = {call}(((const uint64_t *)a)[i]);",
                f"{first}*b = {call}({kind}(*a));",
            )
            versions = [Version(flags, "bit_manipulations.cpp", body) for body in bodies]
            prototype = f"void twin(const {vector} a[1], {vector} b[1])"
            yield Pair(folder, f"{name} of {words}", prototype, versions)


def _sensei() -> Iterator[Pair]:
    """Yield the pairs of sensei: flips with and without BMI2."""
    folder = "othello-sensei/engine/board"
    flags = "-std=c++17 -O3 -fPIC -DNDEBUG -fconstexpr-ops-limit=1000000000 -I.. "
    for name, x in (("A1", 0), ("D4", 27)):
        body = f"O &= ~P; P &= ~(1ull << {x}); O &= ~(1ull << {x}); return GetFlip({x}, P, O);"
        versions = [Version(flags + level, "get_flip.h", body) for level in ("-march=x86-64", "-march=x86-64-v3")]
        yield Pair(folder, f"GetFlip {name}", BOARDS, versions)
    body = "O &= ~P; P &= ~(1ull << x); O &= ~(1ull << x); return GetFlip(x, P, O);"
    versions = [Version(flags + level, "get_flip.h", body) for level in ("-march=x86-64", "-march=x86-64-v3")]
    yield Pair(folder, "GetFlip any", SQUARE, versions, below="x=64")


def _software_pext() -> Iterator[Pair]:
    """Yield the pairs of bit gathering and scattering with and without BMI2."""
    fmt = "-O3 -DNDEBUG -DFMT_HEADER_ONLY"
    for folder, flags, file, bmi2, slow, fast in (
        ("Stormphrax/src", f"-std=c++20 {fmt} -I../3rdparty/fmt/include", "util/bits.h", "-DSP_HAS_BMI2=1 -mbmi2",
         "stormphrax::util::fallback::{}", "stormphrax::util::{}"),
        ("Rose/src", f"-std=c++26 {fmt} -I../vendor/lps/include -I../vendor/fmt/include", "rose/util/pext.hpp",
         "-mbmi2", "rose::{}_slow", "rose::{}"),
    ):  # fmt: skip
        for name in ("pext", "pdep"):
            for title, prototype, mask in (
                ("the h file", WORD, "0x8080808080808080"), ("a rook's mask", WORD, "0x007e010101010100"),
                ("any of 8 bits", BITS, "mask & 255"),
            ):  # fmt: skip
                versions = [
                    Version(f"{flags} {more}", file, f"return {call.format(name)}(b, {mask});")
                    for more, call in (("", slow), (bmi2, fast))
                ]
                yield Pair(folder, f"{name} with {title}", prototype, versions)


def _rose() -> Iterator[Pair]:
    """Yield the pairs of Rose: rays, attackers and sliders from 64 bytes, with SSE4.2, AVX2 and AVX-512."""
    flags = "-std=c++26 -O3 -DNDEBUG -DFMT_HEADER_ONLY -I../vendor/lps/include -I../vendor/fmt/include -march="
    load = "u8x64 v; std::memcpy(&v, in, 64); "
    for name, prototype, body in (
        *((name, "uint64_t twin(const uint8_t in[64])", f"{load}return geometry::{name}(v).to_bits();")
          for name in ("attackers_from_rays", "sliders_from_rays")),
        ("flip_rays", BYTES, load + "v = geometry::flip_rays(v); std::memcpy(out, &v, 64);"),
        ("lane_broadcast", BYTES, load + "v = geometry::lane_broadcast(v); std::memcpy(out, &v, 64);"),
        ("slider_broadcast", BYTES, load + "v = geometry::slider_broadcast(v); std::memcpy(out, &v, 64);"),
        ("superpiece_rays", "uint64_t twin(unsigned x, uint8_t out[64])",
         "auto [v, m] = geometry::superpiece_rays(Square{(u8)x}); std::memcpy(out, &v, 64); return m.to_bits();"),
    ):  # fmt: skip
        below = "x=64" if "unsigned x" in prototype else ""
        versions = {
            level: Version(flags + level, "rose/geometry.hpp", f"using namespace rose; {body}", "#include <cstring>\n")
            for level in ("x86-64-v2", "x86-64-v3", "icelake-client")
        }
        plain = versions.pop("x86-64-v2")
        for level, other in versions.items():
            yield Pair("Rose/src", f"{name} {level}", prototype, (plain, other), below=below)


def _movegen() -> Iterator[Pair]:
    """Yield the pairs of Chess_Movegen: attacks of a queen, by a plain walk and by other methods."""
    flags = "-O3 -std=c++20 -DNDEBUG -march="
    attacks = "uint64_t twin(unsigned x, uint64_t occupied)"
    call = "return Chess_Lookup::{}::Queen(x, occupied | 1ull << x);"
    plain = Version(flags + "x86-64", "Dumb7Fill.hpp", call.format("Dumb7Fill"))
    for name, file, level in (
        ("AVXShift", "AVXShift", "-v3"), ("KoggeStone", "KoggeStone", ""), ("GaloisField", "GaloisField", "icelake"),
        ("HyperbolaQsc", "Hyperbola", ""), ("SlideArithm", "SlideArithm", "-v3"), ("SBAMG", "SBAMG", ""),
        ("Leorik", "Leorik", "-v3"), ("QBB", "QBB", "-v3"), ("ObstructionDiff", "ObstructionDiff", "-v3"),
        ("Genetic8Ray", "Genetic8Ray", "-v3"), ("ExplodingBoard", "Exploading", ""), ("Bitrotation", "Bitrotation", ""),
        ("Kindergarten", "Kindergarten", ""),
    ):  # fmt: skip
        machine = "icelake-client" if level == "icelake" else "x86-64" + level
        other = Version(flags + machine, f"{file}.hpp", call.format(name), "#include <array>\n#include <bit>\n")
        yield Pair("Chess_Movegen", f"Queen: {name}", attacks, (plain, other), below="x=64")


def _counts() -> Iterator[Pair]:
    """Yield the pairs of lc0: population counts with and without the instruction."""
    flags = "-std=c++20 -O3 -DNDEBUG -march=x86-64"
    for name in ("count", "count_few"):
        body = f"return lczero::BitBoard(b).{name}();"
        versions = [Version(flags + more, "chess/bitboard.h", body) for more in (" -DNO_POPCNT", "-v2")]
        yield Pair("lc0/src", f"BitBoard::{name}", "int twin(uint64_t b)", versions)


PAIRS = (
    *_edax(),
    *_egaroucid(),
    *_reversi(),
    *_issen(),
    *_sensei(),
    *_software_pext(),
    *_rose(),
    *_movegen(),
    *_counts(),
)


def source_of(pair: Pair, version: Version) -> str:
    """Return the translation unit of a version."""
    linkage = 'extern "C" ' if pair.language == "c++" else ""
    lines = {"{": "namespace {\n", "}": "}\n"}
    includes = "".join(lines.get(word, f'#include "{word}"\n') for word in version.files.split())
    head = "#include <stdint.h>\n#include <immintrin.h>\n" + version.before
    return f"{head}{includes}{linkage}__attribute__((externally_visible)) {pair.prototype} {{ {version.body} }}\n"


def compile_version(folder: Path, pair: Pair, version: Version, compiler: str, made: Path) -> str:
    """Compile a version in the folder of its checkout. Return the first error, or nothing."""
    command = [COMPILERS[compiler][pair.language == "c++"], *version.flags.split(), "-w", "-I."]
    if compiler == "clang":
        command = [
            flag.replace("-fconstexpr-ops-limit", "-fconstexpr-steps") for flag in command if flag != "-fwhole-program"
        ]
    command += ["-x", pair.language, "-c", "-", "-o", str(made)]
    ran = subprocess.run(
        command, input=source_of(pair, version), text=True, capture_output=True, cwd=folder / pair.folder, check=False
    )
    errors = [line for line in ran.stderr.splitlines() if "error" in line]
    return "" if ran.returncode == 0 else (errors or [f"exit status {ran.returncode}"])[0]


def judge_mutants(files: Sequence[Path], pair: Pair, number: int, limit: float) -> Counter[str]:
    """Return the verdicts on mutants of the second function."""
    reference, code = (ObjectFunction(str(file), "twin").with_calls for file in files)
    bounds = {name: int(below) for name, _, below in [pair.below.partition("=")] if name}
    task = Prototype(pair.prototype, bounds).task(ReferenceFunction("twin", reference, reference.layout))
    prover, found = Prover(), Counter[str]()
    for mutant in islice((each for each in mutants(code, 4 * number) if not is_of_linker(code, each)), number):
        certificate = prover.prove(mutant.binary, task, limit)
        is_wrong = certificate.status == "proved" and not same_by_stepping(code, mutant.binary, task)
        found["WRONGLY PROVED" if is_wrong else certificate.status] += 1
        if certificate.status == "proved":
            print(f"    proved{' WRONGLY' if is_wrong else ''}: {mutant.description}", flush=True)
    return found


def is_of_linker(binary: Binary, mutant: Mutant) -> bool:
    """Whether a mutant changes an address that a linker would write, which is known from the relocation instead."""
    at = next(at for at, (one, other) in enumerate(zip(binary.image, mutant.binary.image, strict=True)) if one != other)
    written = {place for place, *_ in binary.layout.targets} if binary.layout else set()
    return any(each.offset in written and each.offset <= at < each.end for each in decode(binary.text))


def same_by_stepping(one: Binary, other: Binary, task: Task) -> bool:
    """Whether two functions give the same results for 100 random inputs."""
    chance = random.Random(1)
    for draw in range(100):
        words = [chance.getrandbits(64) & (chance.getrandbits(64) if draw % 2 else -1) for _ in task.words]
        inputs = zip(task.words, words, strict=True)
        given = tuple((each.name, (word % each.below if each.below else word,)) for each, word in inputs)
        case = Counterexample("", given, 0, (), (), {})
        try:
            if replayed(one, task, case) != replayed(other, task, case):
                return False
        except SemanticsError:
            return False
    return True


def judge(folder: Path, pair: Pair, compiler: str, limit: float, number: int = 0) -> Row:
    """Compile both versions of a pair and compare them. If they are proved equal, judge `number` mutants, too."""
    if not (folder / pair.folder).is_dir():
        return Row(pair, compiler, "not run", "no checkout")
    with tempfile.TemporaryDirectory() as made:
        objects = [Path(made, name) for name in ("one.o", "other.o")]
        for version, file in zip(pair.versions, objects, strict=True):
            error = compile_version(folder, pair, version, compiler, file)
            if error:
                return Row(pair, compiler, "not compiled", error)
        command = [sys.executable, "-m", "setwise", "prove", "--object", str(objects[1]), "--symbol", "twin"]
        command += ["--same-as", "twin", "--in", str(objects[0]), "--prototype", pair.prototype, "--json"]
        command += ["--time-limit", f"{limit:g}", *(("--below", pair.below) if pair.below else ())]
        start = time.monotonic()
        try:
            ran = subprocess.run(command, text=True, capture_output=True, check=False, timeout=2 * limit + 5)
        except subprocess.TimeoutExpired:
            return Row(pair, compiler, "not proved", f"no answer in {2 * limit + 5:g} s", 2 * limit + 5)
        seconds = time.monotonic() - start
        is_proved = ran.stdout and json.loads(ran.stdout)[0]["status"] == "proved"
        verdicts = Counter[str]()
        if number and is_proved:
            with ProcessPoolExecutor(1) as process:  # whose memory is freed at its end
                verdicts = process.submit(judge_mutants, objects, pair, number, limit).result()
    if not ran.stdout:
        reason = ran.stderr.strip().splitlines()[-1].replace(f"{made}/", "").removeprefix("setwise prove: ")
        return Row(pair, compiler, "not proved", reason, seconds)
    found = json.loads(ran.stdout)[0]
    return Row(pair, compiler, found["status"], found["reason"], seconds, verdicts)


def main(arguments: Sequence[str]) -> None:
    """Print the verdict on each pair, then the number of each verdict."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder of the checkouts")
    parser.add_argument("--only", default="", metavar="TEXT", help="only pairs whose folder and name hold this text")
    parser.add_argument("--compiler", action="append", choices=COMPILERS, help="default: both")
    parser.add_argument("--time-limit", type=float, default=60, metavar="S", help="seconds a pair (default: 60)")
    parser.add_argument("--mutants", type=int, default=0, metavar="N", help="mutants of each proved function")
    options = parser.parse_args(arguments)
    rows = []
    for pair in PAIRS:
        if options.only not in f"{pair.folder}: {pair.name}":
            continue
        for compiler in options.compiler or COMPILERS:
            row = judge(options.folder, pair, compiler, options.time_limit, options.mutants)
            rows.append(row)
            project = pair.folder.partition("/")[0]
            print(
                f"{project:<14}  {pair.name:<36}  {compiler:<5}  {row.verdict:<12}  {row.seconds:5.1f} s  {row.reason}",
                flush=True,
            )
    for title, verdicts in (
        ("pairs", Counter(row.verdict for row in rows)),
        ("mutants", sum((row.mutants for row in rows), Counter[str]())),
    ):
        if verdicts:
            print(f"{title}: {', '.join(f'{count} {verdict}' for verdict, count in verdicts.most_common())}")


if __name__ == "__main__":
    main(sys.argv[1:])
