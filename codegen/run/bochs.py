"""Bochs, an emulator of whole x86-64 processors: the models that setwise has tested, and a boot of one of them.

The version is Bochs 2.7 (The Bochs Project, 2021), Debian's package `bochs`. It emulates AVX-512, GFNI and VBMI on any
machine.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from setwise.codegen.machine.processors import FEATURES
from setwise.codegen.run.boot import SIZE, START, Aftermath, Image, rom
from setwise.codegen.run.orphan import CAN_END_WITH_PARENT, begin_apart

SECONDS = 120
"""The default time limit of one boot with its calls."""
HOW_TO_GET = "apt-get install bochs"


class NoBochs(ValueError):
    """An error that Bochs is not installed, or does not work."""


@dataclass(frozen=True, slots=True)
class EmulatedProcessor:
    """A processor that Bochs emulates: setwise's name, the title, and Bochs' name of the model."""

    name: str
    title: str
    model: str

    @property
    def features(self) -> frozenset[str]:
        """The features beyond the baseline."""
        return FEATURES[self.name]


PROCESSORS: Mapping[str, EmulatedProcessor] = {
    processor.name: processor
    for processor in (
        EmulatedProcessor("nehalem", "Nehalem", "corei5_lynnfield_750"),
        EmulatedProcessor("haswell", "Haswell", "corei7_haswell_4770"),
        EmulatedProcessor("zen", "Zen", "ryzen"),
        EmulatedProcessor("skylake-server", "Skylake-X", "corei7_skylake_x"),
        EmulatedProcessor("ice-lake", "Ice Lake", "corei7_icelake_u"),
        EmulatedProcessor("tiger-lake", "Tiger Lake", "tigerlake"),
    )
}
"""Processors by name, the oldest first; a test compares the features of each with its CPUID."""


def processor(name: str) -> EmulatedProcessor:
    """Return the processor of a name, ignoring case, - and _. Raises ValueError for an unknown or untested one.

    >>> processor("icelake").title
    'Ice Lake'
    """
    plain = {known.replace("-", ""): known for known in PROCESSORS}
    known = plain.get(name.lower().replace("-", "").replace("_", ""))
    if known is None:
        raise ValueError(f"unknown or untested Bochs processor '{name}': use one of {', '.join(PROCESSORS)}")
    return PROCESSORS[known]


def usual(needed: frozenset[str]) -> EmulatedProcessor | None:
    """Return the oldest of PROCESSORS that has these features, or None."""
    return next((oldest for oldest in PROCESSORS.values() if needed <= oldest.features), None)


def ready(name: str) -> EmulatedProcessor:
    """Return the processor of that name. Raises the errors of `processor`, and NoBochs if Bochs is not installed."""
    emulated = processor(name)
    if not installed():
        raise NoBochs(f"{emulated.title} is emulated by Bochs, which is not installed: {HOW_TO_GET}")
    return emulated


def installed() -> bool:
    """Return whether Bochs is installed."""
    return shutil.which("bochs") is not None


def boot(image: Image, on: EmulatedProcessor, seconds: float = SECONDS) -> Aftermath:
    """Run an image's calls in order on that processor. Return the end of each, and the writable memory that they leave.

    A call that still runs after `seconds` has neither a result nor a fault, and later calls are not begun. Raises
    NoBochs if Bochs is missing or fails.
    """
    program = shutil.which("bochs")
    if program is None:
        raise NoBochs(f"Bochs is not installed: {HOW_TO_GET}")
    with tempfile.TemporaryDirectory(prefix="setwise-bochs-") as name:
        folder = Path(name)
        start, size = image.writable_range()
        (folder / "rom").write_bytes(rom(on.features))
        settings = [*_SETTINGS, f"cpu: model={on.model}, count=1, ips=200000000, reset_on_triple_fault=0"]
        with (folder / "memory").open("wb") as memory:
            for address, content in image.memory():
                memory.seek(address - START)
                memory.write(content)
        settings.append(f"optramimage1: file=memory, address={START:#x}")
        (folder / "settings").write_text("\n".join(settings), encoding="ascii")
        # The machine stops at the magic breakpoint or if Bochs is interrupted. Then writemem saves `writable_range`.
        (folder / "commands").write_text(f'c\nwritemem "left" {start:#x} {size}\nquit\n', encoding="ascii")
        output = _run([program, "-q", "-f", "settings", "-rc", "commands"], folder, seconds)
        try:
            left = (folder / "left").read_bytes()
        except FileNotFoundError:
            left = b""
        if len(left) != size:
            reason = _reason(output, folder / "log")
            hint = ": the code may move rsp too far" if "exception with no resolution" in reason else ""
            raise NoBochs(f"Bochs failed: {reason}{hint}")
        try:
            return image.aftermath(left)
        except ValueError as error:
            raise NoBochs(f"this Bochs does not work ({error}): try another; {HOW_TO_GET}") from None


_SETTINGS = (
    f"memory: guest={SIZE >> 20}, host={SIZE >> 20}",
    "romimage: file=rom",
    "magic_break: enabled=1",
    'display_library: rfb, options="timeout=0"',
    "log: log",
    "panic: action=fatal",
    "clock: sync=none",
    "sound: waveoutdrv=dummy",  # this driver works with and without sound hardware
)


def _run(command: list[str], folder: Path, seconds: float) -> str:
    """Run Bochs and return its output. If it still runs, interrupt it after `seconds`, and kill it 10 seconds later.

    Its only display without a window serves any client at port 5900, so it gets no network if the system can do that.
    """
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "BXSHARE": "/usr/share/bochs"},
        start_new_session=True,
        preexec_fn=begin_apart if CAN_END_WITH_PARENT else None,
    ) as running:
        try:
            return _output(running, seconds)
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGINT)
            try:
                return _output(running, 10)
            except subprocess.TimeoutExpired:
                return "it does not respond"
        finally:
            running.kill()


def _output(running: subprocess.Popen[bytes], seconds: float) -> str:
    return running.communicate(timeout=seconds)[0].decode(errors="replace")


def _reason(output: str, log: Path) -> str:
    """Return the line of the output or of the log that gives the reason of a failure, or "no message"."""
    lines = output.splitlines()
    for at, line in enumerate(lines[:-1]):
        if "exiting with the following message" in line:
            return lines[at + 1].strip()
    panics = [line for line in log.read_text(errors="replace").splitlines() if "p[" in line] if log.exists() else []
    return next(iter([*panics, *reversed(lines)]), "no message")
