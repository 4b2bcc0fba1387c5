"""`setwise shorten`: what it prints of what it found, what it keeps, what it refuses."""

import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from setwise.codegen.catalogue import find
from setwise.codegen.export.names import symbol
from setwise.codegen.export.objects.elf import elf
from setwise.codegen.export.objects.relocatable import object_file
from setwise.codegen.lower import lower
from setwise.codegen.machine.code import Instruction, general
from tests.analysis.commands.running import ROOT, Capture, printed
from tests.conftest import require_module

require_module("bitwuzla")

NAME = "push.attacks.sout"
ONE = ("shorten", NAME, "--isa", "x86-64", "--level", "a")


def test_nothing_is_found_in_a_kernel(capsys: Capture) -> None:
    out = printed(capsys, *ONE)
    assert out.startswith(f"{NAME} x86-64 1 sysv: 16 instructions, nothing shorter found\n")
    assert re.search(r"\na +14/14 +171 +0 +0 +0 +0 ", out)


ENDED = """
import os, signal, sys
from setwise.analysis.search import search
from setwise.analysis.commands.main import main

number, *arguments = sys.argv[1:]
run_session, asked = search.run_session, []

def search_until_ended(*place):
    asked.append(place)
    if len(asked) == 3:
        signal.raise_signal(int(number))
    return run_session(*place)

signal.signal(signal.SIGINT, signal.default_int_handler)
search.run_session = search_until_ended
os.cpu_count = lambda: 1  # in this process
sys.exit(main(arguments))
"""
"""The command, which a signal ends when it begins the third search."""


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_what_ends_a_search_leaves_what_was_tried(number: signal.Signals, status: int) -> None:
    asked = ("shorten", NAME, "push.attacks.nort", "--lanes", "1", "--level", "a")
    command = [sys.executable, "-c", ENDED, str(int(number)), *asked]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (status, "")
    assert "shorter code found for 0, proved" in done.stdout
    assert done.stdout.count("14/14") == 2


def test_somebody_s_function(capsys: Capture, tmp_path: Path) -> None:
    kernel = lower(find(NAME))
    rax = general("rax")
    idle = (Instruction("mov", (general("rcx"), rax)), Instruction("and", (rax, general("rcx"))))
    longer = replace(kernel, code=replace(kernel.code, items=(*kernel.code.items[:-1], *idle, kernel.code.items[-1])))
    made = tmp_path / "made.o"
    made.write_bytes(elf(object_file(longer)))
    asked = ("shorten", "--object", str(made), "--symbol", symbol(longer), "--spec", NAME, "--level", "a")
    out = printed(capsys, *asked, status=1)
    assert out.startswith("18 to 16, level a: 'and rax,rcx' at offset 0x3")
    assert f"{symbol(longer)} as {NAME}, x86-64, sysv: proved" in out
