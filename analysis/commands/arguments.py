"""Arguments that several commands share, and the rules for naming a function of an ELF file."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace

_DAY = 86_400
PATTERNS = "routines or patterns such as 'dumb7.*', or your own (the file is executed): mine.py, mine.py:function"


def add_names(parser: ArgumentParser, text: str = PATTERNS, *, needed: bool = False) -> None:
    """Add NAME..., any number of routines."""
    parser.add_argument("names", nargs="+" if needed else "*", metavar="NAME", help=text)


def instruction_sets(text: str) -> str:
    """Return instruction sets as typed, with `native` replaced by the newest set that this processor supports."""
    if "native" not in text.split(","):
        return text
    from setwise.codegen.run.call import missing
    from setwise.codegen.targets import TARGETS

    here = next((name for name in reversed(TARGETS) if not missing(TARGETS[name])), "x86-64")
    return ",".join(here if name == "native" else name for name in text.split(","))


def add_target(parser: ArgumentParser, *, lanes: bool = True, default: str | None = "x86-64") -> None:
    """Add --isa, --lanes and --abi of one kernel."""
    usual = f"default: {default}" if default else "default: the best that this processor has"
    shown = f"x86-64, bmi2, ..., or native ({usual})"
    parser.add_argument("--isa", type=instruction_sets, default=default, metavar="I", help=shown)
    if lanes:
        add_lanes(parser)
    parser.add_argument("--abi", default="sysv", metavar="A", help="sysv, win64 or wiki (default: sysv)")


def add_lanes(parser: ArgumentParser) -> None:
    """Add --lanes of one kernel."""
    parser.add_argument("--lanes", type=int, metavar="N", help="boards or directions a register: 2, 4, 8")


def add_prefix(parser: ArgumentParser) -> None:
    """Add --prefix of symbols."""
    parser.add_argument(
        "--prefix", metavar="P", help="the prefix of symbols, macros and files, and C++'s namespace (default: setwise)"
    )


def add_only_isa(parser: ArgumentParser) -> None:
    """Add --isa, which selects among all instruction sets."""
    shown = "only this instruction set, or native (default: all)"
    parser.add_argument("--isa", type=instruction_sets, metavar="I", help=shown)


def add_only_abi(parser: ArgumentParser) -> None:
    """Add --abi, which selects among all conventions."""
    parser.add_argument("--abi", metavar="A", help="only this calling convention (default: all; of an object, sysv)")


def add_position(parser: ArgumentParser, text: str = "take sliders and squares from this position") -> None:
    """Add --fen and --side."""
    parser.add_argument("--fen", metavar="FEN", help=f"{text}; or startpos")
    add_side(parser)


def add_coordinates(parser: ArgumentParser) -> None:
    """Add --coordinates."""
    parser.add_argument("--coordinates", action="store_true", help="label the ranks and files of drawn boards")


def add_side(parser: ArgumentParser) -> None:
    """Add --side."""
    parser.add_argument("--side", metavar="S", help="whose sliders: w or b (default: the side to move)")


def add_call(parser: ArgumentParser, does: str = "") -> None:
    """Add --executed and --fen, which select a call; `does` begins their help texts."""
    parser.add_argument(
        "--executed",
        nargs="*",
        dest="arguments",
        metavar="ARG",
        help=f"{does}the instructions that a call with these arguments (as for `setwise run`) executes, or with --fen",
    )
    parser.add_argument(
        "--fen", metavar="FEN", help=f"{does}the instructions that a call on this position executes; or startpos"
    )


def add_object(parser: ArgumentParser, *, remark: str = "", spec: bool = False) -> None:
    """Add --object and --symbol, and with `spec` --spec, whose contract the function must fulfil."""
    parser.add_argument("--object", metavar="FILE", help=f"an ELF object, program or shared library{remark}")
    parser.add_argument("--symbol", metavar="SYM", help="the function in it")
    if spec:
        parser.add_argument("--spec", metavar="NAME", help="the routine whose contract it must fulfil")


def object_given(arguments: Namespace) -> bool:
    """Return whether a function of an ELF file is given. Raises ValueError for missing or conflicting options."""
    with_spec = hasattr(arguments, "spec")
    given = [arguments.object, arguments.symbol, *([arguments.spec] if with_spec else [])]
    if not any(given):
        return False
    if with_spec and (not all(given) or arguments.names or arguments.isa):
        raise ValueError(
            "a function of a file needs --object FILE --symbol SYM --spec NAME, and takes no other name and no --isa"
        )
    if not all(given):
        raise ValueError("--object FILE and --symbol SYM go together, and without names")
    if arguments.names:
        raise ValueError("name routines, or --object FILE --symbol SYM, not both")
    return True


def add_on(parser: ArgumentParser, default: str = "") -> None:
    """Add --on; `default` adds to the help's words on its default."""
    parser.add_argument(
        "--on",
        metavar="P",
        help="emulate this processor in Bochs: nehalem, haswell, zen, skylake-server, ice-lake, tiger-lake "
        f"(default: run natively{default})",
    )


def add_time_limit(parser: ArgumentParser, text: str = "seconds a proof") -> None:
    """Add --time-limit."""
    parser.add_argument("--time-limit", type=seconds, default=60.0, metavar="S", help=text)


def seconds(given: str) -> float:
    """Return a time limit in seconds, above 0 and at most a day."""
    try:
        number = float(given)
    except ValueError:
        number = 0.0
    if not 0 < number <= _DAY:
        raise ArgumentTypeError(f"invalid time limit '{given}': give seconds above 0 and at most {_DAY}")
    return number


def add_json(parser: ArgumentParser, more: str = "") -> None:
    """Add --json."""
    parser.add_argument("--json", action="store_true", help=f"print JSON instead of a table{more}")


def place(given: str) -> str:
    """Return the name of a file or directory to write. "-", by convention standard output, is refused."""
    if given in ("", "-"):
        raise ArgumentTypeError(f"'{given}' is not a file name: give a name (./- for a file called -)")
    return given
