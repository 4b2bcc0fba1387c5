"""Where programs that tests build run: on this processor, under qemu as on another one, under wine as on Windows.

Each function gives what the program printed; a program that faults or fails is an AssertionError with its messages.
"""

import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

from setwise.codegen.machine.processors import BASELINE
from setwise.codegen.run import cpu
from tests.conftest import require_tool

WINE = "/usr/lib/wine/wine64"
"""Debian's package wine64 puts no program on PATH."""
_SERVER = "/usr/lib/wine/wineserver64"
_SECONDS = 120


def natively(program: Path, *arguments: str) -> str:
    """The program on this processor."""
    return _printed([str(program), *arguments], program.parent)


def under_qemu(processor: str, program: Path, *arguments: str, machine: str = "x86_64") -> str:
    """The program on one of the processors that `qemu-x86_64 -cpu help` lists: it has no instructions beyond theirs."""
    return _printed([require_tool(f"qemu-{machine}"), "-cpu", processor, str(program), *arguments], program.parent)


def with_features(features: Iterable[str], program: Path, *arguments: str) -> str:
    """The program on a processor that has at least these features: this one, else qemu's greatest, without AVX-512."""
    if cpu.features().issuperset(frozenset(features) - BASELINE):
        return natively(program, *arguments)
    return under_qemu("max", program, *arguments)


def under_wine(program: Path, *arguments: str) -> str:
    """The program of Windows on this processor.

    Wine gets a folder of its own for each program, so that tests may run side by side and leave nothing behind. The
    folder is empty: wine would fill it with 700 MB, in ten seconds, were it not told that it is still being made.
    """
    wine = require_tool(WINE)
    with TemporaryDirectory(prefix="wine") as made:
        prefix = Path(made)
        (prefix / "drive_c" / "windows" / "system32").mkdir(parents=True)
        (prefix / "dosdevices").mkdir()
        (prefix / "dosdevices" / "c:").symlink_to("../drive_c")
        (prefix / "dosdevices" / "z:").symlink_to("/")
        (prefix / ".update-timestamp").write_text("disable\n")
        own = {"WINEPREFIX": made, "TMPDIR": made, "WINEBOOTSTRAPMODE": "1", "WINEDEBUG": "-all"}
        environment = {**os.environ, **own}
        try:
            printed = _printed([wine, str(program), *arguments], program.parent, environment)
        finally:
            # Wine's server, and with it all that is left of wine.
            subprocess.run([_SERVER, "-k9"], env=environment, capture_output=True, timeout=_SECONDS)
    return printed.replace("\r\n", "\n")


def _printed(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> str:
    # Through files, not pipes: those would not end before wine's server, which waits a second for another program.
    with TemporaryFile("w+") as output, TemporaryFile("w+") as errors:
        done = subprocess.run(command, stdout=output, stderr=errors, cwd=folder, env=environment, timeout=_SECONDS)
        output.seek(0)
        errors.seek(0)
        assert done.returncode == 0, f"{' '.join(command)}: exit status {done.returncode}\n{errors.read()[-4000:]}"
        return output.read()
