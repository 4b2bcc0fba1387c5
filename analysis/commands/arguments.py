"""Arguments that several commands share, and the check that those for a function of an ELF file are complete."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping
from typing import Any

_DAY = 86_400
PATTERNS = (
    "routines, families (dumb7), patterns ('dumb7.*.sout'), or your own (the file is executed): mine.py, "
    "mine.py:function"
)


def instruction_sets(text: str) -> str:
    """Return instruction sets in lower case, with `native` replaced by the newest set that this processor supports."""
    text = text.lower()
    if "native" not in text.split(","):
        return text
    from setwise.codegen.run.call import missing
    from setwise.codegen.targets import TARGETS

    here = next((name for name in reversed(TARGETS) if not missing(TARGETS[name])), "x86-64")
    return ",".join(here if name == "native" else name for name in text.split(","))


def seconds(given: str) -> float:
    """Parse a time in seconds. Raises ArgumentTypeError unless it is above 0 and at most a day."""
    try:
        number = float(given)
    except ValueError:
        number = 0.0
    if not 0 < number <= _DAY:
        raise ArgumentTypeError(f"invalid time '{given}': give seconds above 0 and at most {_DAY}")
    return number


def processor(given: str) -> str:
    """Return the name of a processor with a cost table, or "native". Raises ArgumentTypeError for another name."""
    from setwise.analysis.cost.processors import processor as known

    try:
        return given if given == "native" else known(given).name
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


def bound(given: str) -> tuple[str, int]:
    """Return the name and number of NAME=N. Raises ArgumentTypeError unless N is a number from 1 to 2**63."""
    name, _, number = given.partition("=")
    if not name.isidentifier() or not number.isdecimal() or not 0 < int(number) <= 1 << 63:
        raise ArgumentTypeError(f"invalid bound '{given}': give a parameter and a number, such as sq=64")
    return name, int(number)


def pair(given: str) -> tuple[str, str]:
    """Return the two names of A=B. Raises ArgumentTypeError for anything else."""
    one, _, other = given.partition("=")
    if not one.isidentifier() or not other.isidentifier():
        raise ArgumentTypeError(f"invalid pair '{given}': give two parameters, such as out=in")
    return one, other


def place(given: str) -> str:
    """Return the path of a file or directory to write as given. Raises ArgumentTypeError for "" and "-"."""
    if given in ("", "-"):
        raise ArgumentTypeError(f"'{given}' is not a file name: give a name (./- for a file called -)")
    return given


_SHARED: Mapping[str, Mapping[str, Any]] = {
    "names": {"nargs": "*", "metavar": "NAME", "help": PATTERNS},
    "--isa": {
        "type": instruction_sets,
        "default": "x86-64",
        "metavar": "I",
        "help": "x86-64, bmi2, ..., or native (default: x86-64)",
    },
    "only --isa": {
        "type": instruction_sets,
        "metavar": "I",
        "help": "only this instruction set, or native (default: all)",
    },
    "--lanes": {"type": int, "metavar": "N", "help": "boards or directions a register: 2, 4, 8"},
    "--abi": {"default": "sysv", "metavar": "A", "help": "sysv, win64 or wiki (default: sysv)"},
    "only --abi": {"metavar": "A", "help": "only this calling convention (default: all; of an object, sysv)"},
    "--for": {
        "dest": "objective",
        "default": "",
        "metavar": "O",
        "help": "optimize for size (fewest instructions of all variants), latency or throughput, by timings and bounds "
        "(default: fewest instructions without pext, pdep and imul for a shift)",
    },
    "--variant": {
        "default": "",
        "metavar": "V",
        "help": "the variant of that name (`setwise bench --variants` lists all)",
    },
    "--cpu": {
        "type": processor,
        "metavar": "C",
        "help": "the processor: skylake-server, ice-lake, golden-cove, zen3, zen4, zen5 or native (default: none in "
        "particular)",
    },
    "--prefix": {
        "metavar": "P",
        "help": "the prefix of symbols, macros and files, and C++'s namespace (default: setwise)",
    },
    "--endbr64": {"action": "store_true", "help": "begin functions with endbr64"},
    "--fen": {"metavar": "FEN", "help": "take boards from this position by name (white: all its pieces); or startpos"},
    "--executed": {
        "nargs": "*",
        "dest": "arguments",
        "metavar": "ARG",
        "help": "the instructions that a call with these arguments (as for `setwise run`) executes, or with --fen",
    },
    "executed --fen": {"metavar": "FEN", "help": "the instructions that a call on this position executes; or startpos"},
    "--side": {"metavar": "S", "help": "whose sliders: w or b (default: the side to move)"},
    "--coordinates": {"action": "store_true", "help": "label the ranks and files of drawn boards"},
    "--object": {"metavar": "FILE", "help": "an ELF object, program or shared library"},
    "--symbol": {"metavar": "SYM", "help": "the function in it"},
    "--spec": {"metavar": "NAME", "help": "the routine whose contract it must fulfil"},
    "--patience": {"type": seconds, "metavar": "S"},
    "--on": {
        "metavar": "P",
        "help": "emulate this processor in Bochs: nehalem, haswell, zen, skylake-server, ice-lake, tiger-lake "
        "(default: run natively, and emulate missing instruction sets)",
    },
    "--time-limit": {"type": seconds, "default": 60.0, "metavar": "S", "help": "seconds of processor time a proof"},
    "--json": {"action": "store_true", "help": "print JSON instead of a table"},
}
"""The settings of each argument by its name. A word before a name, as in "only --isa", marks other settings for it."""


def add(parser: ArgumentParser, *names: str, **changes: Any) -> None:
    """Add shared arguments by their names in _SHARED. The `changes` override settings of each."""
    for name in names:
        parser.add_argument(name.split()[-1], **{**_SHARED[name], **changes})


def object_given(arguments: Namespace) -> bool:
    """Return whether a function of an ELF file is given. Raises ValueError for missing or conflicting options."""
    spec = [arguments.spec or getattr(arguments, "same_as", None)] if hasattr(arguments, "spec") else []
    given = [arguments.object, arguments.symbol, *spec]
    if not any(given):
        return False
    if not all(given) or arguments.names or (spec and arguments.isa):
        named = "--spec NAME or --same-as SYM" if hasattr(arguments, "same_as") else "--spec NAME"
        needed = f"--object FILE --symbol SYM {named}, no --isa" if spec else "--object FILE --symbol SYM"
        raise ValueError(f"a function of an ELF file needs {needed}, no names, and --abi unless it is sysv")
    return True
