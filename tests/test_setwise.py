"""The public face: kernels as functions on integers."""

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import pytest

import setwise
from setwise.analysis.bench import choice
from setwise.analysis.cost.processors import processor
from setwise.analysis.spec import raywalk
from setwise.codegen.catalogue import find
from setwise.codegen.machine.convention import CONVENTIONS
from setwise.codegen.run import cpu
from setwise.codegen.run.executable import NotRunnable
from tests.conftest import require_module, runs

SLIDERS, EMPTY = 0x0000_0010_2000_0004, 0xFF7F_EF0F_DFFF_FBFB


@runs
@pytest.mark.parametrize("abi", [None, *CONVENTIONS])
@pytest.mark.parametrize("isa", [None, "x86-64"])
def test_a_kernel_is_a_function_on_integers(isa: str | None, abi: str | None) -> None:
    north = setwise.kernel("Kogge-Stone.attacks.nort", isa=isa, abi=abi)
    assert north(SLIDERS, EMPTY) == raywalk.attacks("nort", SLIDERS, EMPTY)
    assert north(SLIDERS, EMPTY) == north(SLIDERS, EMPTY)


@runs
def test_what_is_not_taken() -> None:
    south = setwise.kernel("dumb7.attacks.sout")
    with pytest.raises(TypeError, match=r"takes 2 arguments \(sliders, empty\), not 1"):
        south(1)
    for wrong in (-1, 1 << 64):
        with pytest.raises(ValueError, match=f"empty is {wrong}"):
            south(1, wrong)
    one_of_eight = setwise.kernel("kogge-stone.attacks.any")
    assert one_of_eight(1, EMPTY, 7) == raywalk.attacks("nort", 1, EMPTY)
    with pytest.raises(ValueError, match="dir8 is 8"):
        one_of_eight(1, EMPTY, 8)


@runs
def test_pickles_hold_what_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    south = setwise.kernel("Kogge-Stone.attacks.sout")
    plain = setwise.kernel("kogge-stone.attacks.sout", isa="x86-64", abi="win64")
    written = [pickle.dumps(each) for each in (south, plain)]
    assert max(map(len, written)) < 200  # a name, not code
    monkeypatch.setattr(cpu, "features", frozenset)  # another processor
    again, plain_again = map(pickle.loads, written)
    assert again.kernel.target.name == plain_again.kernel.target.name == "x86-64"
    assert plain_again.kernel.convention.name == "win64"
    assert again(SLIDERS, EMPTY) == plain_again(SLIDERS, EMPTY) == south(SLIDERS, EMPTY)
    assert again.__doc__ == plain.__doc__


@runs
def test_another_process_gets_the_function_by_its_name() -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        attacked = pool.submit(setwise.kernel("kogge-stone.attacks.nort"), SLIDERS, EMPTY).result()
    assert attacked == raywalk.attacks("nort", SLIDERS, EMPTY)


@runs
def test_a_function_says_what_it_takes() -> None:
    told = setwise.kernel("sliders.pair", isa="x86-64").__doc__
    assert told is not None
    assert "Takes rooks, bishops, occupied; gives orthogonal, diagonal." in told
    assert "Requires sliders within occupied." in told
    assert "(x86-64)" in told


@runs
def test_squares_and_directions_go_by_their_names() -> None:
    """Each routine numbers squares in its own way, and says so."""
    for ending, bits, d4, attacked in (
        ("", "a1 = bit 0, h1 = bit 7, h8 = bit 63", 27, 0x0000_0000_F000_0000),
        (".big-endian", "h1 = bit 0, a1 = bit 7, a8 = bit 63", 28, 0x0000_0000_0F00_0000),
    ):
        ray = setwise.kernel(f"exploding.direction{ending}", "x86-64")
        assert ray("d4", "EAST", 0, 0) == ray(square="d4", direction="east", white=0, black=0) == attacked
        assert ray(d4, 1, 0, 0) == attacked
        assert f"boards have {bits}." in str(ray.__doc__)
        assert "Numbers of direction: 1 east, 2 noEa, " in str(ray.__doc__)
    shift = setwise.kernel("shift.one.any")
    assert shift(1, dir8="noEa") == 1 << 9
    for arguments, error, said in (
        ((1, "up"), ValueError, "no direction 'up'"),
        (("a1", 0), TypeError, "sliders is of type str"),
    ):
        with pytest.raises(error, match=said):
            shift(*arguments)


def test_a_processor_without_the_features(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "features", frozenset)
    with pytest.raises(NotRunnable, match="it lacks"):
        setwise.kernel("dumb7.attacks.sout", isa="bmi2")


@runs
def test_what_is_required_is_checked_where_that_is_asked_for() -> None:
    plain, union = setwise.kernel("sliders.union"), setwise.kernel("sliders.union", checked=True)
    assert "requires sliders within occupied" in repr(plain)
    assert "checked=True" in str(plain.__doc__)
    assert "checked=True" not in str(union.__doc__)
    breach = r"^sliders\.union requires sliders within occupied: this call violates it$"
    for made in (union, pickle.loads(pickle.dumps(union))):
        assert made(1, 4, 5) == made(rooks=1, bishops=4, occupied=5) == plain(1, 4, 5)
        for given in ((1, 4, 0), (1, 2, 5)):
            with pytest.raises(ValueError, match=breach):
                made(*given)
    assert setwise.kernel("exploding.rook", checked=True)("a1", 0) == setwise.kernel("exploding.rook")(0, 0)
    with pytest.raises(ValueError, match="square is 64: it must be from 0 to"):
        setwise.kernel("exploding.rook", checked=True)(64, 0)


@runs
def test_what_is_required_of_arrays_is_checked_before_anything_is_written() -> None:
    np = require_module("numpy")
    union = setwise.kernel("sliders.union", checked=True)
    rooks, occupied = np.array([[1, 2], [4, 8]], np.uint64), np.array([3, 12], np.uint64)
    with pytest.raises(ValueError, match="this call violates it"):
        union(rooks, 0, occupied, out=rooks)
    assert rooks.tolist() == [[1, 2], [4, 8]]
    assert union(rooks, 0, occupied[:, None]).shape == (2, 2)
    with pytest.raises(TypeError, match="holds float64"):
        union(rooks.astype(float), 0, 0)

    @setwise.routine
    def lowest(pieces: setwise.Board) -> setwise.Board:
        """The only piece."""
        return pieces & ~(pieces - 1)

    lowest.requires(lambda pieces: pieces > 0 and pieces & pieces - 1 == 0)
    made = lowest.kernel(checked=True)
    assert made(rooks).tolist() == rooks.tolist()
    for given in (0, 3, np.array([1, 0], np.uint64)):
        with pytest.raises(ValueError, match="this call violates it"):
            made(given)


def test_sets_that_the_named_processor_lacks_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    union = find("sliders.union")
    monkeypatch.setattr(choice, "missing", lambda target: ())
    assert choice.sets_of(union, processor("zen3"), native=True) == ("x86-64", "bmi2", "sse2", "avx2")
    monkeypatch.setattr(choice, "missing", lambda target: ("avx2",) if "avx2" in target.features else ())
    assert choice.sets_of(union, processor("zen5"), native=True) == ("x86-64", "bmi2", "sse2")
