"""Compare engines before and after an exchange: bench signatures, and nodes a second by turns.

The commands that build and run an engine are its user's, in a TOML file with one table an engine:

    [berserk]
    avx2 = "the command that builds for AVX2"
    avx512 = "the command that builds for AVX-512"
    bench = "the command that prints `N nodes N nps`, or Stockfish's two lines"

Each runs in a copy of the checkout. Nothing is fetched.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import NamedTuple

from setwise.codegen.run import cpu
from tests.engines.exchanges import Exchange, Failed, apply, recognized

_NEEDS = {"avx2": ("avx2",), "avx512": ("avx512f", "avx512bw", "avx512dq", "avx512vl")}
_RESULT = re.compile(r"(\d+)\s+nodes\s+(\d+)\s+nps|Nodes searched\s*:\s*(\d+)\s+Nodes/second\s*:\s*(\d+)")
_HEADER = f"{'engine':<12} {'set':<7} {'signature':<24} {'before':>10} {'after':>10}  {'ratio':<23} {'by CPU time':<23}"


class Result(NamedTuple):
    """The result of one bench: the signature, nodes a second as printed, and the processor time of the command."""

    nodes: int
    speed: int
    seconds: float


@dataclass(frozen=True)
class Comparison:
    """The results of all turns, each a pair before and after the exchange."""

    turns: tuple[tuple[Result, Result], ...]

    @property
    def same(self) -> bool:
        """Whether all turns have one signature."""
        return len({result.nodes for turn in self.turns for result in turn}) == 1

    def __str__(self) -> str:
        before, after = self.turns[0]
        signature = f"{before.nodes} same" if self.same else f"{before.nodes} {after.nodes} differs"
        speeds = [median(result.speed for result in results) for results in zip(*self.turns, strict=True)]
        by_speed = _range([new.speed / old.speed for old, new in self.turns])
        by_time = _range([old.seconds / new.seconds for old, new in self.turns])
        return f"{signature:<24} {speeds[0]:>10.0f} {speeds[1]:>10.0f}  {by_speed:<23} {by_time}"


def _range(ratios: list[float]) -> str:
    """Return the median and the quartiles of the ratios."""
    low, middle, high = quantiles(ratios, method="inclusive") if len(ratios) > 1 else ratios * 3
    return f"{middle:.3f} ({low:.3f} to {high:.3f})"


def compare(before: Path, after: Path, bench: str, turns: int) -> Comparison:
    """Run the bench in both folders by turns. The first of a pair changes from pair to pair."""
    pairs = []
    for turn in range(turns):
        order = (before, after) if turn % 2 == 0 else (after, before)
        results = {folder: _bench(folder, bench) for folder in order}
        pairs.append((results[before], results[after]))
    return Comparison(tuple(pairs))


def compare_builds(
    checkout: Path, exchange: Exchange, build: str, bench: str, *, turns: int, proved: bool = True
) -> Comparison:
    """Build copies of the checkout without and with the exchange, and compare them."""
    with TemporaryDirectory() as folder:
        before, after = Path(folder) / "before", Path(folder) / "after"
        for copy in (before, after):
            shutil.copytree(checkout, copy, ignore=shutil.ignore_patterns(".git"), symlinks=True)
        apply(exchange, after, proved=proved)
        for copy in (before, after):
            _run(copy, build, f"{exchange.engine} {copy.name} the exchange: the build")
        return compare(before, after, bench, turns)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table of the comparisons. Return 1 if a signature differs, 2 if a step fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.engines", description="Compare engines by their benches.")
    parser.add_argument("checkouts", metavar="PATH", nargs="*", type=Path, help="the checkout of an engine")
    parser.add_argument("--commands", metavar="FILE", type=Path, help="TOML: the commands that build and bench")
    parser.add_argument("--sets", default="avx2,avx512", help="the sets to build for (default: avx2,avx512)")
    parser.add_argument("--turns", metavar="N", type=int, default=10, help="pairs of bench runs (default: 10)")
    parser.add_argument("--unproved", action="store_true", help="export without proofs, which is quicker")
    options = parser.parse_args(arguments)
    if not options.checkouts or not options.commands or options.turns < 1:
        print("give checkouts of engines and their commands: make engines ENGINES='PATH...' COMMANDS=FILE")
        return 2
    print(
        f"{cpu.brand()}; {options.turns} turns; medians of nodes a second; medians and quartiles of ratios\n{_HEADER}",
        flush=True,
    )
    status = 0
    for checkout in options.checkouts:
        try:
            exchange = recognized(checkout)
            commands = _commands(options.commands, exchange.engine)
            for isa in options.sets.split(","):
                if not cpu.features().issuperset(_NEEDS.get(isa, ("unknown",))):
                    row = "not run: this processor has not the set"
                elif isa not in commands:
                    row = "not run: no command builds for the set"
                else:
                    result = compare_builds(
                        checkout,
                        exchange,
                        commands[isa],
                        commands["bench"],
                        turns=options.turns,
                        proved=not options.unproved,
                    )
                    row, status = str(result), max(status, int(not result.same))
                print(f"{exchange.engine:<12} {isa:<7} {row}", flush=True)
        except (Failed, OSError, UnicodeDecodeError) as error:
            print(f"tests.engines: {error}", file=sys.stderr)
            status = 2
    return status


def _commands(path: Path, engine: str) -> Mapping[str, str]:
    """Return the engine's table of the file."""
    try:
        commands = tomllib.loads(path.read_text("utf-8")).get(engine.lower(), {})
    except tomllib.TOMLDecodeError as error:
        raise Failed(f"{path}: {error}") from None
    if "bench" not in commands:
        raise Failed(f"{path}: no bench command for {engine}: [{engine.lower()}] bench = ...")
    return {name: str(command) for name, command in commands.items()}


def _bench(folder: Path, command: str) -> Result:
    """Return the result that the bench prints last."""
    start = getrusage(RUSAGE_CHILDREN)
    found = _RESULT.findall(_run(folder, command, "the bench"))
    end = getrusage(RUSAGE_CHILDREN)
    if not found:
        raise Failed(f"the bench printed no `N nodes N nps`: {command}")
    nodes, speed = (int(number) for number in found[-1] if number)
    return Result(nodes, speed, end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime)


def _run(folder: Path, command: str, step: str) -> str:
    """Return what the shell's command prints."""
    done = subprocess.run(
        command, shell=True, cwd=folder, text=True, errors="replace", stdout=-1, stderr=-2, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        lines = [line for line in done.stdout.splitlines() if "error" in line.lower()] or done.stdout.splitlines()
        raise Failed(f"{step} failed: {lines[0].strip() if lines else f'exit status {done.returncode}'}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
