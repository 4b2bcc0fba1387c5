"""Arguments that several commands take, and how those of a function in an ELF file go together."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace

_DAY = 86_400
PATTERNS = "routines, or patterns such as 'dumb7.*'; or of a file of your own, which is run: mine.py, mine.py:function"


def add_names(parser: ArgumentParser, text: str = PATTERNS, *, needed: bool = False) -> None:
    """NAME..., any number of routines."""
    parser.add_argument("names", nargs="+" if needed else "*", metavar="NAME", help=text)


def instruction_sets(text: str) -> str:
    """Sets of instructions as they are typed, with the newest that this processor has in the place of `native`."""
    if "native" not in text.split(","):
        return text
    from setwise.codegen.run.call import missing
    from setwise.codegen.targets import TARGETS

    here = next((name for name in reversed(TARGETS) if not missing(TARGETS[name])), "x86-64")
    return ",".join(here if name == "native" else name for name in text.split(","))


def add_target(parser: ArgumentParser, *, lanes: bool = True, default: str | None = "x86-64") -> None:
    """--isa, --lanes and --abi of one kernel."""
    usual = f"default: {default}" if default else "default: the best that this processor has"
    shown = f"x86-64, bmi2, ..., or native ({usual})"
    parser.add_argument("--isa", type=instruction_sets, default=default, metavar="I", help=shown)
    if lanes:
        add_lanes(parser)
    parser.add_argument("--abi", default="sysv", metavar="A", help="sysv, win64 or wiki (default: sysv)")


def add_lanes(parser: ArgumentParser) -> None:
    """--lanes of one kernel."""
    parser.add_argument("--lanes", type=int, metavar="N", help="boards or directions a register: 2, 4, 8")


def add_prefix(parser: ArgumentParser) -> None:
    """--prefix of symbols."""
    parser.add_argument(
        "--prefix", metavar="P", help="what symbols, macros and files begin with; C++'s namespace (default: setwise)"
    )


def add_only_isa(parser: ArgumentParser) -> None:
    """--isa that chooses among all."""
    shown = "only this instruction set, or native (default: all)"
    parser.add_argument("--isa", type=instruction_sets, metavar="I", help=shown)


def add_only_abi(parser: ArgumentParser) -> None:
    """--abi that chooses among all."""
    parser.add_argument("--abi", metavar="A", help="only this calling convention (default: all; of an object, sysv)")


def add_position(parser: ArgumentParser, text: str = "take sliders and squares from this position") -> None:
    """--fen and --side."""
    parser.add_argument("--fen", metavar="FEN", help=f"{text}; or startpos")
    add_side(parser)


def add_squares(parser: ArgumentParser) -> None:
    """--squares."""
    parser.add_argument(
        "--squares",
        metavar="N",
        help="how your boards number the squares, by square 0: a1 (b1 = 1), h1, a8, h8, a1-by-files (a2 = 1), ... "
        "(default: as the routine does)",
    )


def add_coordinates(parser: ArgumentParser) -> None:
    """--coordinates."""
    parser.add_argument("--coordinates", action="store_true", help="draw boards with their ranks and files named")


def add_side(parser: ArgumentParser) -> None:
    """--side."""
    parser.add_argument("--side", metavar="S", help="whose sliders: w or b (default: the side to move)")


def add_call(parser: ArgumentParser, does: str = "") -> None:
    """--executed and --fen, which say what call is meant; `does` is what is done with what that executes."""
    parser.add_argument(
        "--executed",
        nargs="*",
        dest="arguments",
        metavar="ARG",
        help=f"{does}what a call with these arguments executes (as `setwise run` takes them), or with --fen",
    )
    parser.add_argument("--fen", metavar="FEN", help=f"{does}what a call on this position executes; or startpos")


def add_object(parser: ArgumentParser, *, remark: str = "", spec: bool = False) -> None:
    """--object and --symbol, and --spec where the function is held to a contract."""
    parser.add_argument("--object", metavar="FILE", help=f"an ELF object, program or shared library{remark}")
    parser.add_argument("--symbol", metavar="SYM", help="the function in it")
    if spec:
        parser.add_argument("--spec", metavar="NAME", help="the routine whose contract it is held to")


def object_given(arguments: Namespace) -> bool:
    """Whether a function in an ELF file is meant; ValueError where it is not all said, or names stand beside it."""
    with_spec = hasattr(arguments, "spec")
    given = [arguments.object, arguments.symbol, *([arguments.spec] if with_spec else [])]
    if not any(given):
        return False
    if with_spec and (not all(given) or arguments.names or arguments.isa):
        raise ValueError("an object takes --object FILE --symbol SYM --spec NAME, and --abi if it is not sysv")
    if not all(given):
        raise ValueError("--object FILE and --symbol SYM go together, and without names")
    if arguments.names:
        raise ValueError("name routines, or --object FILE --symbol SYM, not both")
    return True


def add_on(parser: ArgumentParser) -> None:
    """--on."""
    parser.add_argument(
        "--on",
        metavar="P",
        help="in Bochs as this processor: nehalem, haswell, zen, skylake-server, ice-lake, tiger-lake (default: this "
        "processor, and in Bochs what it lacks)",
    )


def add_time_limit(parser: ArgumentParser, text: str = "seconds a proof") -> None:
    """--time-limit."""
    parser.add_argument("--time-limit", type=seconds, default=60.0, metavar="S", help=text)


def seconds(given: str) -> float:
    """Return a time limit: a number of seconds above 0, at most a day."""
    try:
        number = float(given)
    except ValueError:
        number = 0.0
    if not 0 < number <= _DAY:
        raise ArgumentTypeError(f"'{given}' is no time limit: give seconds above 0, at most {_DAY}")
    return number


def add_json(parser: ArgumentParser, more: str = "") -> None:
    """--json."""
    parser.add_argument("--json", action="store_true", help=f"print JSON instead of a table{more}")


def place(given: str) -> str:
    """The name of a file or directory to write: "-", which is standard output elsewhere, is none."""
    if given in ("", "-"):
        raise ArgumentTypeError(f"'{given}' names nothing to write: give a name (./- for one that is called -)")
    return given
