"""The native check_kernels: it passes what is right and catches what is not."""

import ctypes
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

from setwise.analysis import api
from setwise.analysis.parallel import in_processes
from setwise.analysis.run.check import Outcome, check
from setwise.analysis.run.checks import check_kernels
from setwise.analysis.run.emulation import EmulatedCode
from setwise.analysis.run.inputs import RANDOM_BOARDS, Cases, make_cases
from setwise.analysis.spec import raywalk
from setwise.codegen.catalogue import catalogue, find
from setwise.codegen.ir.routine import Contract, Parameter, Routine
from setwise.codegen.kernel import Kernel
from setwise.codegen.lower import lower
from setwise.codegen.machine.code import Instruction, general
from setwise.codegen.machine.convention import CONVENTIONS
from setwise.codegen.request import Request
from setwise.codegen.run import cpu
from setwise.codegen.run.bochs import processor
from setwise.codegen.run.call import missing, runner
from setwise.codegen.targets import TARGETS
from tests.conftest import few, require_tool, runs

SLIDERS, EMPTY, OCCUPIED = Parameter("sliders", "board"), Parameter("empty", "empty"), Parameter("occupied", "occupied")
SQUARE, WORD = Parameter("square", "square", 64), Parameter("x", "word", 1 << 32)


@dataclass
class Fake:
    """A kernel in Python: a function of one case's words."""

    cases: Cases
    function: Callable[..., Sequence[int]]

    def __call__(self, columns: Sequence[int], results: int, n: int) -> None:
        made = np.array([self.function(*map(int, row)) for row in zip(*self.cases.columns, strict=True)], np.uint64)
        ctypes.memmove(results, np.ascontiguousarray(made).ctypes.data, made.nbytes)


def contract(
    *parameters: Parameter,
    specification: str = "attacks",
    direction: str = "noEa",
    results: tuple[str, ...] = ("attacks",),
    requires: tuple[str, ...] = (),
) -> Contract:
    return Contract(parameters, specification, direction, results, requires)


def pairs_of(cases: Cases) -> set[tuple[int, int]]:
    return {(int(a), int(b)) for a, b in zip(*cases.columns, strict=True)}


def subsets(squares: Sequence[int]) -> Iterator[int]:
    for chosen in range(1 << len(squares)):
        yield sum(1 << square for at, square in enumerate(squares) if chosen >> at & 1)


@pytest.mark.parametrize("direction", few(raywalk.DIR8, 4))
def test_every_pair_of_sets_on_every_line_is_there(direction: str) -> None:
    cases = make_cases(contract(SLIDERS, EMPTY, direction=direction), random_boards=0)
    there = pairs_of(cases)
    on_lines = 0
    for line in raywalk.lines(direction):
        on_lines += 4 ** len(line)
        for sliders in subsets(line):
            assert all((sliders, empty) in there for empty in subsets(line))
    others = cases.number - on_lines
    assert 0 < others < 300
    diagonal = 4**8 + 2 * sum(4**length for length in range(1, 8))
    assert on_lines == (8 * 4**8 if direction in raywalk.SETS["rook"] else diagonal)


def test_a_hundred_thousand_random_boards_always_the_same() -> None:
    assert RANDOM_BOARDS == 100_000
    wanted = contract(SLIDERS, EMPTY)
    none, full = make_cases(wanted, random_boards=0), make_cases(wanted)
    assert full.number - none.number == RANDOM_BOARDS
    again = make_cases(wanted)
    assert all((a == b).all() for a, b in zip(full.columns, again.columns, strict=True))
    # Of every density: from boards with next to nothing to boards with next to all.
    sliders = full.columns[0][-RANDOM_BOARDS:]
    sizes = [int(word).bit_count() for word in sliders[:5000]]
    assert min(sizes) <= 1
    assert max(sizes) >= 63
    assert len(set(map(int, sliders))) > 90_000


def test_quick_is_a_part_of_it() -> None:
    wanted = contract(SLIDERS, EMPTY)
    quick, full = make_cases(wanted, quick=True), make_cases(wanted)
    assert full.number / 20 < quick.number < full.number / 8


@pytest.mark.parametrize(("second", "direction", "flipped"), [(EMPTY, "soWe", 0), (OCCUPIED, "east", raywalk.ALL)])
def test_the_expected_results_are_the_ray_walks(second: Parameter, direction: str, flipped: int) -> None:
    cases = make_cases(contract(SLIDERS, second, direction=direction), quick=True)
    for row in range(0, cases.number, 97):
        sliders, given = (int(column[row]) for column in cases.columns)
        assert int(cases.expected[row, 0]) == raywalk.attacks(direction, sliders, given ^ flipped)


def test_cases_keep_to_what_the_contract_requires() -> None:
    within = make_cases(
        contract(SLIDERS, OCCUPIED, direction="east", requires=("sliders within occupied",)), quick=True
    )
    sliders, occupied = within.columns
    assert not (sliders & ~occupied).any()
    assert sliders.any()
    off = make_cases(contract(SLIDERS, EMPTY, direction="east", requires=("no slider on an empty square",)), quick=True)
    sliders, empty = off.columns
    assert not (sliders & empty).any()
    assert sliders.any()
    with pytest.raises(ValueError, match="unknown requirement 'a full moon'"):
        make_cases(contract(SLIDERS, EMPTY, requires=("a full moon",)))


def test_a_kind_without_cases_is_named() -> None:
    with pytest.raises(ValueError, match=r"kind 'count' \(n\)"):
        make_cases(contract(SLIDERS, EMPTY, Parameter("n", "count")))


@pytest.mark.parametrize("piece", ["rook", "bishop"])
def test_every_occupancy_of_every_squares_rays(piece: str) -> None:
    wanted = contract(SQUARE, Parameter("free", "empty"), specification="from-square", direction=piece)
    cases = make_cases(wanted, random_boards=0)
    squares, free = cases.columns
    assert int(squares.max()) == 63
    for square in (0, 7, 28, 49, 63):
        rays = raywalk.from_square(piece, square, raywalk.ALL)
        seen = {int(word) & rays for word in free[squares == square]}
        assert len(seen) == 1 << rays.bit_count()
        # Squares off the rays hold anything.
        assert len({int(word) & ~rays for word in free[squares == square]}) > 1


@pytest.mark.slow
def test_directions_at_run_time_have_all_their_lines() -> None:
    wanted = contract(SLIDERS, EMPTY, Parameter("dir8", "dir8", 8), direction="any")
    cases = make_cases(wanted, random_boards=0)
    for direction in ("noEa", "west"):
        number = raywalk.DIR8.index(direction)
        mine = cases.columns[2] == number
        there = {(int(a), int(b)) for a, b in zip(cases.columns[0][mine], cases.columns[1][mine], strict=True)}
        longest = max(raywalk.lines(direction), key=len)
        assert all((sliders, empty) in there for sliders in subsets(longest) for empty in subsets(longest))


def test_bounded_words_stay_within_their_bounds() -> None:
    y = Parameter("y", "word", 1 << 32)
    cases = make_cases(contract(WORD, y, specification="add", direction=""), quick=True)
    assert all(int(column.max()) < 1 << 32 for column in cases.columns)
    assert all(int(column.max()) > 1 << 31 for column in cases.columns)


def test_several_results_are_compared_each() -> None:
    rooks, bishops = Parameter("rooks", "board"), Parameter("bishops", "board")
    wanted = contract(rooks, bishops, EMPTY, specification="pair", direction="", results=("orthogonal", "diagonal"))
    cases = make_cases(wanted, quick=True, random_boards=1000)
    right = raywalk.specification("pair")
    some = replace(
        cases, columns=tuple(c[-2000:].copy() for c in cases.columns), expected=cases.expected[-2000:].copy()
    )
    assert check(Fake(some, right), some).status == "passed"

    def second_is_wrong(*words: int) -> tuple[int, int]:
        one, other = right(*words)
        return one, other ^ (1 << 63 if words[1] >> 40 & 1 else 0)

    outcome = check(Fake(some, second_is_wrong), some)
    assert outcome.status == "failed"
    assert outcome.mismatch is not None
    assert outcome.mismatch.expected[0] == outcome.mismatch.got[0]
    assert outcome.mismatch.expected[1] ^ outcome.mismatch.got[1] == 1 << 63
    assert dict(outcome.mismatch.inputs)["bishops"] >> 40 & 1


def test_the_first_case_that_differs_is_told() -> None:
    cases = make_cases(contract(SLIDERS, EMPTY, direction="east"), quick=True, random_boards=0)
    right = raywalk.specification("attacks", "east")
    cases = replace(cases, columns=tuple(c[:3000].copy() for c in cases.columns), expected=cases.expected[:3000].copy())
    first = 1234
    sliders, empty = (int(column[first]) for column in cases.columns)
    row = next(
        i for i in range(cases.number) if int(cases.columns[0][i]) == sliders and int(cases.columns[1][i]) == empty
    )

    def wrong(*words: int) -> tuple[int, ...]:
        return (right(*words)[0] ^ 1,) if words == (sliders, empty) else right(*words)

    mismatch = check(Fake(cases, wrong), cases).mismatch
    assert mismatch is not None
    assert mismatch.case == row
    assert mismatch.inputs == (("sliders", sliders), ("empty", empty))
    assert mismatch.got == (mismatch.expected[0] ^ 1,)


def test_a_kernel_that_writes_nothing_has_not_passed() -> None:
    cases = make_cases(contract(SLIDERS, EMPTY), quick=True, random_boards=0)
    assert check(lambda columns, results, n: None, cases).status == "failed"


_quick_cases = cache(partial(make_cases, quick=True))


def judged(kernel: Kernel) -> str:
    cases = _quick_cases(kernel.routine.contract)
    with runner(kernel) as running:
        return check(running.run, cases).status


@runs
@pytest.mark.parametrize("name", ["kogge-stone.attacks.noEa", "dumb7.occluded.west", "kogge-stone.occluded.sout"])
@pytest.mark.parametrize("abi", CONVENTIONS)
def test_a_kernel_that_lacks_any_one_instruction_is_caught(name: str, abi: str) -> None:
    kernel = lower(find(name), "x86-64", abi)
    assert judged(kernel) == "passed"
    items = kernel.code.items
    for at in range(len(items) - 1):  # without its ret it would not come back
        broken = replace(kernel, code=replace(kernel.code, items=items[:at] + items[at + 1 :]))
        assert judged(broken) == "failed", f"without {items[at]}"


@runs
def test_a_kernel_that_breaks_its_convention_is_caught_though_its_results_are_right() -> None:
    kernel = lower(find("kogge-stone.attacks.sout"), "x86-64", "win64")
    spoil = Instruction("mov", (general("rsi"), general("rcx")))
    broken = replace(kernel, code=replace(kernel.code, items=(spoil, *kernel.code.items)))
    with runner(broken) as running:
        outcome = check(running.run, _quick_cases(kernel.routine.contract))
    assert (outcome.status, outcome.reason) == ("failed", "rsi changed")
    assert outcome.mismatch is not None


def test_what_the_processor_lacks_is_not_run_and_not_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "features", frozenset)
    monkeypatch.setenv("PATH", "/nowhere")
    (one,) = check_kernels([Request(find("kogge-stone.attacks.sout"), "bmi2", "sysv", 1)], quick=True)
    assert one.outcome.status == "not run"
    assert one.outcome.cases == 0
    assert "lacks bmi1, bmi2, popcnt; Bochs has Haswell: apt-get install bochs" in one.outcome.reason


def test_what_the_processor_lacks_runs_in_bochs(monkeypatch: pytest.MonkeyPatch) -> None:
    require_tool("bochs")
    monkeypatch.setattr(cpu, "features", frozenset)
    (one,) = check_kernels([Request(find("kogge-stone.attacks.sout"), "bmi2", "win64", 1)])
    assert (one.outcome.status, one.outcome.on) == ("passed", "Haswell, emulated")
    assert one.outcome.cases > 40_000


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_every_convention_and_width_runs_in_bochs(lanes: int) -> None:
    require_tool("bochs")
    names = ("kogge-stone.attacks.sout", "kogge-stone.attacks.east.batch")
    jobs = [job for name in names for job in api.requests([find(name)], "avx512", None) if job.lanes == lanes]
    outcomes = [one.outcome for one in check_kernels(jobs, quick=True, on=processor("icelake"))]
    assert [outcome.status for outcome in outcomes] == ["passed"] * 5
    assert {outcome.on for outcome in outcomes} == {"Ice Lake, emulated"}


def test_an_emulated_processor_that_lacks_what_is_needed_runs_nothing() -> None:
    (one,) = check_kernels([Request(find("kogge-stone.attacks.sout"), "avx2", "sysv", 4)], on=processor("nehalem"))
    assert one.outcome.status == "not run"
    assert one.outcome.reason == "Nehalem lacks avx, avx2, bmi1, bmi2: leave out --on"


@runs
def test_what_cannot_be_checked_has_not_passed() -> None:
    routine = find("kogge-stone.attacks.sout")
    odd = replace(routine, contract=replace(routine.contract, specification="guesswork"))
    (one,) = check_kernels([Request(odd, "x86-64", "sysv", 1)], quick=True)
    assert one.outcome.status == "failed"
    assert "unknown specification 'guesswork'" in one.outcome.reason


@pytest.mark.parametrize("spoil", ["", "one too many", "no tail", "in place"])
def test_arrays_of_all_lengths_and_what_lies_around_them(spoil: str) -> None:
    """A routine on arrays that adds one to each word: right on long arrays, wrong in one way on short ones."""
    words = np.arange(800, dtype=np.uint64) * np.uint64(0x9E37_79B9_7F4A_7C15)
    cases = Cases(("x",), (words,), (words + np.uint64(1)).reshape(-1, 1), arrays=True)

    def drive(columns: Sequence[int], results: int, n: int) -> None:
        wrong = spoil if n < 100 else ""
        given = [*(ctypes.c_uint64 * n).from_address(columns[0]), 0]
        if wrong == "in place" and columns[0] == results:
            given = given[:1] * n
        for at in range({"one too many": n + 1, "no tail": n - n % 4}.get(wrong, n)):
            ctypes.c_uint64.from_address(results + 8 * at).value = given[at] + 1 & raywalk.ALL

    assert check(drive, replace(cases, arrays=False)).status == "passed"
    assert check(drive, cases).status == ("failed" if spoil else "passed")


def test_the_same_bytes_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever instruction sets they stand for; each kernel has its outcome."""
    require_tool("bochs")
    ran: list[EmulatedCode] = []

    def passing(codes: Sequence[EmulatedCode], *_: object) -> Iterator[Outcome]:
        ran.extend(codes)
        yield from (Outcome("passed") for _ in codes)

    monkeypatch.setattr("setwise.analysis.run.checks.check_emulated", passing)
    jobs = [job for isa in ("avx512", "gfni") for job in api.requests([find("dumb7.attacks.sout")], isa, "sysv")]
    judged = list(check_kernels(jobs, on=processor("ice-lake")))
    assert {one.request for one in judged if one.outcome.status == "passed"} == set(jobs)
    assert len(ran) == len(jobs) / 2


def in_turns(jobs: Sequence[Request]) -> list[Request]:
    """Each kernel in one convention, which take turns: all three are proved, and `make long` runs them in Bochs."""
    kernels: dict[tuple[str, str, int | None], list[Request]] = {}
    for job in jobs:
        kernels.setdefault((job.routine.name, job.isa, job.lanes), []).append(job)
    return [conventions[turn % len(conventions)] for turn, conventions in enumerate(kernels.values())]


SPINE = [
    routine
    for routine in catalogue().values()
    if routine.family in ("dumb7", "kogge-stone")
    and routine.form in ("attacks", "occluded")
    and routine.direction in raywalk.DIR8
]


@runs
@pytest.mark.parametrize("specification", ["attacks", "occluded"])
def test_the_kernels_of_the_comparison_pass(specification: str) -> None:
    routines = [routine for routine in SPINE if routine.contract.specification == specification]
    jobs = api.requests(routines, None, None)
    registers = sum(len(TARGETS[isa].widths) for isa in routines[0].isas)
    assert len(jobs) == 16 * registers * 3
    assert {job.abi for job in in_turns(jobs)} == set(CONVENTIONS)
    judged = list(check_kernels(in_turns(jobs), quick=True))
    assert len(judged) == len(jobs) // 3
    assert [one for one in judged if one.outcome.status == "failed"] == []
    assert all(one.outcome.status == "passed" for one in judged if one.request.isa == "x86-64")


VERY_SLOW = (pytest.mark.slow, pytest.mark.long)
LACKING = {isa for isa, target in TARGETS.items() if missing(target)}


def alike() -> list[list[Routine]]:
    """All routines, those of one contract together: they share their cases."""
    together: dict[Contract, list[Routine]] = {}
    for routine in catalogue().values():
        together.setdefault(routine.contract, []).append(routine)
    return list(together.values())


def taken(routines: Iterable[Routine]) -> list[Request]:
    """All kernels in the conventions that refuse none; that of the literature's listings takes two boards."""
    return [job for job in api.requests(list(routines), None, None) if job.abi != "wiki"]


def catalogue_by_contract() -> Iterator[Any]:
    """Of the routines of a contract all cases in every eighth of them, a part of them in the others; all in long."""
    for at, routines in enumerate(alike()):
        quick = at % 8 != 0
        yield pytest.param(routines, quick, id=routines[0].name, marks=pytest.mark.slow)
        if quick:
            yield pytest.param(routines, False, id=f"{routines[0].name}-long", marks=VERY_SLOW)


@runs
@pytest.mark.parametrize(("routines", "quick"), list(catalogue_by_contract()))
def test_the_whole_catalogue_passes(routines: list[Routine], quick: bool) -> None:
    jobs = in_turns([job for job in taken(routines) if job.isa not in LACKING])
    judged = list(check_kernels(jobs, quick=quick))
    assert {one.request for one in judged} == set(jobs)
    assert [one for one in judged if one.outcome.status != "passed"] == []


@pytest.mark.slow
def test_what_this_processor_lacks_and_some_of_avx512_passes_in_bochs() -> None:
    """Of AVX-512 where this processor has it every tenth kernel, by a part of the cases: Bochs is another judge."""
    require_tool("bochs")
    jobs = in_turns([job for job in taken(catalogue().values()) if job.isa in LACKING | {"avx512", "gfni"}])
    for quick in (False, True):
        asked = [job for job in jobs if (job.isa not in LACKING) == quick][:: 10 if quick else 1]
        judged = list(in_processes(partial(check_kernels, quick=quick, on=processor("ice-lake")), asked, 2))
        assert {one.request for one in judged} == set(asked)
        assert [one for one in judged if one.outcome.status != "passed"] == []


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 11))
@pytest.mark.parametrize("family", sorted({routine.family for routine in catalogue().values()}))
def test_the_whole_catalogue_passes_on_other_boards_in_bochs(
    family: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every instruction set, on random boards and lines that no other test draws."""
    require_tool("bochs")
    monkeypatch.setattr("setwise.analysis.run.inputs.SEED", seed)
    routines = [routine for routine in catalogue().values() if routine.family == family]
    judged = list(check_kernels(api.requests(routines, None, None), on=processor("tiger-lake")))
    assert judged
    assert [one for one in judged if one.outcome.status != "passed"] == []
