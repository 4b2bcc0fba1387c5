"""The command `setwise`: its arguments, and what becomes of errors. What each subcommand does is in subcommands.py.

Exit status: 0 fine; 1 a check failed, or this processor cannot run what was asked for; 2 bad usage, or something is
missing that the user can install.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from setwise.codegen.version import version

Arguments = argparse.Namespace

_OPTIONAL = {"numpy": "NumPy", "bitwuzla": "bitwuzla"}
"""Modules that not every command needs, by the names that pip knows them by, and what they are called."""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {_one_line(message)} ({self.prog} --help shows an example)\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, by default those of the process; gives the exit status."""
    try:
        parsed = _parser().parse_args(arguments)
        status = _run(parsed)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has seen enough.
        _print_no_more()
        return 0
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        _print_no_more()
        print(f"setwise: the output cannot be written: {os.strerror(error.errno).lower()}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return status


def _print_no_more() -> None:
    """Nothing is left for the interpreter to flush at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(parsed: Arguments) -> int:
    from setwise.analysis.commands import subcommands as commands
    from setwise.analysis.commands.errors import CannotRunHere, NotInstalled

    try:
        command: Callable[[Arguments], int] = getattr(commands, f"{parsed.command}_command")
        return command(parsed)
    except CannotRunHere as error:
        return _complain(parsed, str(error), 1)
    except ModuleNotFoundError as error:
        if error.name not in _OPTIONAL:
            raise
        return _complain(parsed, f"{_OPTIONAL[error.name]} is not installed: pip install {error.name}", 2)
    except (NotInstalled, ValueError) as error:
        return _complain(parsed, str(error), 2)


def _complain(parsed: Arguments, message: str, status: int) -> int:
    print(f"setwise {parsed.command}: {_one_line(message)}", file=sys.stderr)
    return status


def _one_line(message: str) -> str:
    return " ".join(message.split())


def _parser() -> _Parser:
    parser = _Parser(
        prog="setwise",
        description="x86-64 machine code for set-wise sliding-piece attacks on chess bitboards.",
        epilog="exit status: 0 fine, 1 a check failed or this processor cannot run it, "
        "2 bad usage or something that you can install is missing",
    )
    parser.add_argument("--version", action="version", version=f"setwise {version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)

    def add(name: str, summary: str, example: str) -> argparse.ArgumentParser:
        return commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=f"example:\n  {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    one = add("list", "show the catalogue", "setwise list 'kogge-stone.*'")
    one.add_argument("names", nargs="*", metavar="NAME", help="routines, or patterns such as 'dumb7.*'; default: all")
    _add_json(one)

    one = add("listing", "print a kernel as assembly source", "setwise listing kogge-stone.attacks.sout --abi wiki")
    one.add_argument("name", metavar="NAME", help="the routine, as `setwise list` shows it")
    _add_target(one, lanes=True)
    one.add_argument(
        "--syntax", default="nasm", metavar="S", help="the assembler's: nasm, gas, att, masm, go (default: nasm)"
    )
    one.add_argument("--endbr64", action="store_true", help="begin the function with endbr64")

    one = add(
        "count",
        "count instructions by class: of a kernel's code, of what a call executes, or of a function in an ELF file",
        "setwise count 'dumb7.attacks.*' --isa bmi2\n  "
        "setwise count dumb7.occluded-until-dry.sout --executed d7,a8 0x00ffffffffffffff\n  "
        "setwise count dumb7.occluded-until-dry.sout dumb7.occluded.sout --over tests/data/positions.fen\n  "
        "setwise count --object fills.o --symbol soutAttacks",
    )
    one.add_argument("names", nargs="*", metavar="NAME", help="routines, or patterns such as 'dumb7.*'")
    one.add_argument(
        "--executed",
        nargs="*",
        dest="arguments",
        metavar="ARG",
        help="count what a call with these arguments executes (as `setwise run` takes them), or with --fen",
    )
    one.add_argument("--fen", help="count what a call on this position executes")
    one.add_argument("--over", metavar="FILE", help="the same over a file of FENs, one a line")
    one.add_argument("--side", metavar="S", help="whose sliders: w or b (default: the side to move)")
    one.add_argument("--object", metavar="FILE", help="an ELF object, program or shared library")
    one.add_argument("--symbol", metavar="SYM", help="the function in it")
    _add_target(one, lanes=True)
    _add_json(one)

    one = add(
        "compare",
        "print two kernels side by side, their counts under them",
        "setwise compare dumb7.attacks.sout kogge-stone.attacks.sout --abi wiki",
    )
    one.add_argument("left", metavar="A", help="the routine on the left")
    one.add_argument("right", metavar="B", help="the routine on the right")
    _add_target(one, lanes=True)

    one = add(
        "run",
        "run a kernel on this processor and draw the boards",
        "setwise run kogge-stone.attacks.nort a1,h1 0x0000ffffffff0000\n  "
        "setwise run dumb7.attacks.noEa --fen 'rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2'",
    )
    one.add_argument("name", metavar="NAME", help="the routine")
    one.add_argument(
        "arguments",
        nargs="*",
        metavar="ARG",
        help="a board: a number (0x..), squares (a1,h8) or a drawing; a square: e4",
    )
    one.add_argument("--fen", help="take sliders and squares from this position")
    one.add_argument("--side", metavar="S", help="whose sliders: w or b (default: the side to move)")
    _add_on(one)
    _add_target(one, default=None)

    one = add(
        "trace",
        "draw a fill cycle by cycle, or a kernel instruction by instruction",
        "setwise trace\n  setwise trace kogge-stone.occluded.noEa c1,f1 0xffffffffffff0000\n  "
        "setwise trace push.attacks.west --registers --fen '8/8/8/3R4/8/8/8/k1K5 w' --svg west.svg",
    )
    one.add_argument(
        "name", nargs="?", default="dumb7.occluded.sout", metavar="NAME", help="the routine (dumb7.occluded.sout)"
    )
    one.add_argument(
        "arguments", nargs="*", metavar="ARG", help="as `setwise run` takes them (default: the literature's example)"
    )
    one.add_argument("--fen", help="take sliders and squares from this position")
    one.add_argument("--side", metavar="S", help="whose sliders: w or b (default: the side to move)")
    one.add_argument("--registers", action="store_true", help="each instruction, and the registers that it wrote")
    one.add_argument("--svg", metavar="FILE", help="draw to this file instead")
    _add_target(one, lanes=True)

    one = add(
        "cost",
        "bound the cycles of a kernel, or of a function in an ELF file, on several processors",
        "setwise cost kogge-stone.attacks.sout\n  setwise cost 'push.attacks.*' --isa avx2 --cpu zen4\n  "
        "setwise cost --object fills.o --symbol soutAttacks",
    )
    one.add_argument("names", nargs="*", metavar="NAME", help="routines, or patterns such as 'dumb7.*'")
    one.add_argument("--cpu", metavar="C", help="only this: skylake-server, ice-lake, zen3 or zen4 (default: all)")
    one.add_argument("--mca", action="store_true", help="llvm-mca's figures beside, and why they differ")
    one.add_argument("--object", metavar="FILE", help="an ELF object, program or shared library")
    one.add_argument("--symbol", metavar="SYM", help="the function in it")
    _add_target(one, lanes=True)
    _add_json(one)

    one = add(
        "check",
        "run kernels against the ray-walk, on this processor or an emulated one, or a function in an ELF file on an "
        "emulated one",
        "setwise check 'kogge-stone.*' --isa bmi2\n  setwise check sliders.union --on icelake\n  "
        "setwise check --object fills.o --symbol soutAttacks --spec kogge-stone.attacks.sout",
    )
    one.add_argument("names", nargs="*", metavar="NAME", help="routines, or patterns such as 'dumb7.*'; default: all")
    one.add_argument("--isa", metavar="I", help="only this instruction set (default: all)")
    one.add_argument("--abi", metavar="A", help="only this calling convention (default: all; of an object, sysv)")
    one.add_argument("--object", metavar="FILE", help="an ELF object, program or shared library; it runs in Bochs only")
    one.add_argument("--symbol", metavar="SYM", help="the function in it")
    one.add_argument("--spec", metavar="NAME", help="the routine whose contract it is held to")
    _add_on(one)
    one.add_argument(
        "--quick",
        action="store_true",
        help="a sixteenth of the lines' cases, a tenth of the random boards, as always in Bochs",
    )
    _add_json(one)

    one = add(
        "prove",
        "prove machine code right for all inputs: of kernels, or of a function in an ELF file",
        "setwise prove 'kogge-stone.*'\n  "
        "setwise prove kogge-stone.attacks.nort --isa x86-64 --abi sysv\n  "
        "setwise prove --object fills.o --symbol soutAttacks --spec kogge-stone.attacks.sout",
    )
    one.add_argument("names", nargs="*", metavar="NAME", help="routines, or patterns such as 'dumb7.*'; default: all")
    one.add_argument("--isa", metavar="I", help="only this instruction set (default: all)")
    one.add_argument("--lanes", type=int, metavar="N", help="only kernels of so many lanes: 1, 2, 4, 8 (default: all)")
    one.add_argument("--abi", metavar="A", help="only this calling convention (default: all; of an object, sysv)")
    one.add_argument("--object", metavar="FILE", help="an ELF object, program or shared library")
    one.add_argument("--symbol", metavar="SYM", help="the function in it")
    one.add_argument("--spec", metavar="NAME", help="the routine whose contract it is held to")
    one.add_argument(
        "--time-limit", type=float, default=60.0, metavar="S", help="seconds a kernel; then it is not proved"
    )
    _add_json(
        one,
        "; sha256 is that of listings and metadata.json, of code with distances to data zero, image_sha256 of code and "
        "data",
    )

    one = add(
        "bench",
        "time kernels on this processor, in core cycles, and beside them what compilers make of C",
        "setwise bench\n  setwise bench sliders.union --isa avx2 --beside gcc,clang\n  "
        "setwise bench 'kogge-stone.attacks.*' --isa x86-64 --mode chained --json",
    )
    one.add_argument("names", nargs="*", metavar="NAME", help="routines, or patterns; default: the usual comparisons")
    one.add_argument("--isa", metavar="I", help="only this instruction set (default: all)")
    one.add_argument("--lanes", type=int, metavar="N", help="boards or directions a register: 2, 4, 8")
    one.add_argument("--abi", default="sysv", metavar="A", help="sysv, win64 or wiki (default: sysv)")
    one.add_argument(
        "--mode",
        metavar="M,...",
        help="how calls follow: chained (a result is the next argument), independent, mixed (ever new arguments, where "
        "these matter); default: all",
    )
    one.add_argument("--beside", metavar="C,...", help="time what these compilers make of C for the same: gcc,clang")
    one.add_argument("--boards", type=int, default=512, metavar="N", help="the length of arrays (default: 512)")
    one.add_argument(
        "--patience", type=float, default=30.0, metavar="S", help="seconds to wait for a quiet moment, five times (30)"
    )
    _add_json(one)

    one = add(
        "export",
        "write kernels as listings, objects or source, with proofs and contracts",
        "setwise export sliders.union --isa avx2 --format elf -o out\n  "
        "setwise export 'kogge-stone.attacks.*' --format coff -o out\n  "
        "setwise export sliders.union sliders.pair --isa x86-64,avx2,avx512 --format c --dispatch -o out",
    )
    one.add_argument("names", nargs="+", metavar="NAME", help="routines, or patterns such as 'dumb7.*'")
    one.add_argument(
        "--format",
        required=True,
        metavar="F",
        help="listings: nasm, gas, att, masm, go; objects: elf, coff, macho, lib; source: c, rust, zig",
    )
    one.add_argument("-o", "--output", required=True, metavar="DIR", help="the directory, made where it is missing")
    one.add_argument("--isa", default="x86-64", metavar="I,...", help="instruction sets (default: x86-64)")
    one.add_argument("--lanes", type=int, metavar="N", help="boards or directions a register: 2, 4, 8")
    one.add_argument("--abi", metavar="A", help="sysv, win64 or wiki (default: sysv; of coff and masm, win64)")
    one.add_argument("--endbr64", action="store_true", help="begin functions with endbr64")
    one.add_argument("--dispatch", action="store_true", help="source that asks CPUID which instruction set to use")
    one.add_argument("--force", action="store_true", help="replace files that are there")
    one.add_argument("--unproved", action="store_true", help="export without proofs, as where there is no bitwuzla")
    one.add_argument("--time-limit", type=float, default=60.0, metavar="S", help="seconds a proof")

    one = add("verify", "recheck an export: its files, its figures, its proofs", "setwise verify out")
    one.add_argument("directory", metavar="DIR", help="the directory that `setwise export` wrote")
    one.add_argument("--time-limit", type=float, default=60.0, metavar="S", help="seconds a proof")
    _add_json(one)

    one = add(
        "report",
        "write the reports, or check that they are what they should be",
        "setwise report --check\n  setwise report -o /tmp/reports",
    )
    one.add_argument("-o", "--output", default="reports", metavar="DIR", help="the folder (default: reports)")
    one.add_argument(
        "--check", action="store_true", help="make all that is not measured anew, and name what differs from the files"
    )
    one.add_argument("--measure", action="store_true", help="measure on this processor, besides, which takes minutes")
    one.add_argument("--patience", type=float, default=60.0, metavar="S", help="as for bench (default: 60)")
    return parser


def _add_target(parser: argparse.ArgumentParser, *, lanes: bool = False, default: str | None = "x86-64") -> None:
    said = f"default: {default}" if default else "default: the best that this processor has"
    parser.add_argument("--isa", default=default, metavar="I", help=f"x86-64, bmi2, ... ({said})")
    if lanes:
        parser.add_argument("--lanes", type=int, metavar="N", help="boards or directions a register: 2, 4, 8")
    parser.add_argument("--abi", default="sysv", metavar="A", help="sysv, win64 or wiki (default: sysv)")


def _add_on(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--on",
        metavar="P",
        help="in Bochs as this processor: nehalem, haswell, zen, skylake-server, ice-lake, tiger-lake (default: this "
        "processor, and in Bochs what it lacks)",
    )


def _add_json(parser: argparse.ArgumentParser, more: str = "") -> None:
    parser.add_argument("--json", action="store_true", help=f"print JSON instead of a table{more}")


if __name__ == "__main__":
    sys.exit(main())
