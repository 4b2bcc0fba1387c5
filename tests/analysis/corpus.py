"""Objects that `setwise prove` must not be talked into, and right ones: how they are written, built and judged.

A file of the corpus is assembly for GNU as in Intel's syntax. A line `#= NAME key=value ...: what is wrong` begins a
case, the lines up to the next are its code, which becomes a function of that name in a section of its own. Keys:

    spec, abi   the routine whose contract it is held to, and its convention
    lanes       how many boards a vector register holds
    build       object; shared, program, pie, relocatable: by ld, its flags behind commas; fifo, directory, ...
    patch       what is changed in the file afterwards, as `patched` has it
    limit       how many seconds a case may wait; it may take a fourth of that, or SECONDS, of the processor
    raw         the code says section and symbol itself

What stands before the first case goes for all of them; `#default key=value ...` there sets keys for the file.
"""

import io
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from setwise.analysis.commands.main import main
from tests.conftest import require_tool

SECONDS = 5  # of the processor's time a verdict may take
_TOGETHER = 24  # cases in one file: among many sections each is slow to find
HERE = Path(__file__).parent
_CASE = re.compile(r"#= (?P<name>\w+)(?P<keys>(?: (?:raw|\w+=\S+))*): (?P<why>.+)")


@dataclass(frozen=True, slots=True)
class Case:
    """One object, the function in it that is judged, against which contract, and what is wrong with it."""

    family: str
    name: str
    why: str
    code: str
    head: str
    keys: Mapping[str, str]

    @property
    def label(self) -> str:
        """Its name with its file's."""
        return f"{self.family}/{self.name}"

    @property
    def build(self) -> str:
        """How its file is made."""
        return self.keys.get("build", "object")

    def source(self) -> str:
        """Its assembly, without what goes for the whole file."""
        if "raw" in self.keys:
            return self.code
        section = f'.section .text.{self.name},"ax",@progbits\n'
        head = f"{section}.p2align 4\n.globl {self.name}\n.type {self.name},@function\n{self.name}:\n"
        return f"{head}{self.code}{section}.size {self.name},.-{self.name}\n"

    def arguments(self, file: Path) -> list[str]:
        """The command line that judges it."""
        spec, abi = self.keys.get("spec", "shift.one.nort"), self.keys.get("abi", "sysv")
        lanes = ["--lanes", self.keys["lanes"]] if "lanes" in self.keys else []
        return ["prove", "--object", str(file), "--symbol", self.name, "--spec", spec, "--abi", abi, *lanes]


def cases(folder: str) -> list[Case]:
    """All cases of the files in that folder, in their order."""
    return [case for file in sorted((HERE / folder).glob("*.s")) for case in _read(file)]


def _read(file: Path) -> Iterator[Case]:
    head = ""
    defaults: dict[str, str] = {}
    found: list[tuple[re.Match[str], list[str]]] = []
    for number, line in enumerate(file.read_text().splitlines(keepends=True), 1):
        start = _CASE.fullmatch(line.rstrip())
        if start is not None:
            found.append((start, []))
        elif line.startswith("#="):
            raise ValueError(f"{file.name}:{number}: no case: {line}")
        elif found:
            found[-1][1].append(line)
        elif line.startswith("#default "):
            defaults |= _keys(line.removeprefix("#default "))
        else:
            head += line
    for start, lines in found:
        keys = defaults | _keys(start["keys"])
        yield Case(file.stem, start["name"], start["why"], "".join(lines), head, keys)


def _keys(text: str) -> dict[str, str]:
    return dict(word.partition("=")[::2] for word in text.split())


# ---- building


def built(wanted: Sequence[Case], folder: Path) -> dict[str, Path]:
    """The file of each case, by its label; those of one family that are built alike share one run of the assembler."""
    files: dict[str, Path] = {}
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in wanted:
        groups.setdefault((case.family, case.build), []).append(case)
    parts = [group[at : at + _TOGETHER] for group in groups.values() for at in range(0, len(group), _TOGETHER)]
    for number, part in enumerate(parts):
        made = _made(part, part[0].build, folder / f"{part[0].family}-{number}")
        for case in part:
            files[case.label] = made
            if "patch" in case.keys:
                file = folder / f"{case.family}-{case.name}.elf"
                file.write_bytes(patched(made.read_bytes(), case.keys["patch"]))
                files[case.label] = file
    return files


def _made(group: Sequence[Case], build: str, file: Path) -> Path:
    kind, *flags = build.split(",")
    if kind in _NO_OBJECT:
        _NO_OBJECT[kind](file)
        return file
    source, made = file.with_suffix(".s"), file.with_suffix(".o")
    text = ".intel_syntax noprefix\n" + group[0].head + "".join(case.source() for case in group)
    source.write_text(text + '.section .note.GNU-stack,"",@progbits\n')
    _run([require_tool("as"), "--64", str(source), "-o", str(made)])
    if kind == "object":
        return made
    linked = file.with_suffix(".linked")
    flags = [flag.replace("@", f"{HERE}/evil/") for flag in flags]
    _run([require_tool("ld"), *_LINKED[kind].split(), *flags, str(made), "-o", str(linked)])
    return linked


_LINKED = {
    "shared": "-shared -Bsymbolic",
    "program": "-static -e 0 --unresolved-symbols=ignore-all",
    "pie": "-pie --no-dynamic-linker -e 0",
    "relocatable": "-r",
}
_NO_OBJECT: Mapping[str, Callable[[Path], object]] = {
    "fifo": os.mkfifo,
    "directory": os.mkdir,
    "empty": Path.touch,
    "text": lambda file: file.write_text("no object\n"),
    "archive": lambda file: file.write_bytes(b"!<arch>\n"),
    "endless": lambda file: file.symlink_to("/dev/zero"),
}


def _run(words: Sequence[str]) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"{' '.join(words)}: {done.stderr}")


# ---- what compilers make

_WHOLE = "-fno-reorder-blocks-and-partition"  # gcc: rare parts stay within the function
_COMPILERS = {"gcc": (_WHOLE,), "clang-19": ()}
WAYS = (
    "-O0",
    "-O1",
    "-O2 -fPIC",
    "-O3",
    "-Os -mno-red-zone",
    "-O2 -fcf-protection",
    "-O2 -march=haswell",
    "-O3 -march=x86-64-v4",
    "-O2 -fPIC -shared -nostdlib",
    "-O2 -fPIC -shared -nostdlib -s",
    "-O2 -static -nostdlib -Wl,-e,0",
)


def functions() -> dict[Path, list[tuple[str, str]]]:
    """The C files of `right`, each with its functions and the routines whose contracts they are held to."""
    files = sorted((HERE / "right").glob("*.c"))
    return {file: re.findall(r"^// (\w+) (\S+)$", file.read_text(), re.MULTILINE) for file in files}


def compiled(folder: Path, compiler: str) -> dict[str, tuple[Case, Path]]:
    """The functions of the C files of `right`, as this compiler makes them in each way, by their labels."""
    made: dict[str, tuple[Case, Path]] = {}
    for source, wanted in functions().items():
        for number, flags in enumerate(WAYS):
            words = flags.split()
            file = folder / f"{source.stem}-{number}.elf"
            whole = ("-c",) if "-nostdlib" not in words else ()
            _run([require_tool(compiler), *_COMPILERS[compiler], *words, *whole, str(source), "-o", str(file)])
            for name, spec in wanted:
                case = Case(f"{compiler}{''.join(words)}", name, flags, "", "", {"spec": spec})
                made[case.label] = case, file
    return made


# ---- patching

# Where a field lies in its header, and how many bytes it has.
_HEADER = {
    "e_class": (4, 1), "e_data": (5, 1), "e_type": (16, 2), "e_machine": (18, 2), "e_version": (20, 4),
    "e_entry": (24, 8), "e_phoff": (32, 8), "e_shoff": (40, 8), "e_phentsize": (54, 2), "e_phnum": (56, 2),
    "e_shentsize": (58, 2), "e_shnum": (60, 2), "e_shstrndx": (62, 2),
}  # fmt: skip
_SECTION = {
    "sh_name": (0, 4), "sh_type": (4, 4), "sh_flags": (8, 8), "sh_addr": (16, 8), "sh_offset": (24, 8),
    "sh_size": (32, 8), "sh_link": (40, 4), "sh_info": (44, 4), "sh_addralign": (48, 8), "sh_entsize": (56, 8),
}  # fmt: skip
_SEGMENT = {
    "p_type": (0, 4), "p_flags": (4, 4), "p_offset": (8, 8), "p_vaddr": (16, 8), "p_filesz": (32, 8),
    "p_memsz": (40, 8), "p_align": (48, 8),
}  # fmt: skip
_SYMBOL = {
    "st_name": (0, 4), "st_info": (4, 1), "st_other": (5, 1), "st_shndx": (6, 2), "st_value": (8, 8),
    "st_size": (16, 8),
}  # fmt: skip
_RELOCATION = {"r_offset": (0, 8), "r_type": (8, 4), "r_sym": (12, 4), "r_addend": (16, 8)}


def patched(file: bytes, changes: str) -> bytes:
    """The file with changes, parted by semicolons, each a place and a number: with a sign one to be added, behind
    an @ the name of a section or symbol that has it.

    cut:SIZE; bytes:SECTION:OFFSET:HEX; header:FIELD:N; section:NAME:FIELD:N; segment:NUMBER:FIELD:N;
    symbol:NAME:FIELD:N and dynsym:NAME:FIELD:N; relocation:SECTION:NUMBER:FIELD:N, all by the names of elf.h.
    """
    content = bytearray(file)
    for change in changes.split(";"):
        kind, *words = change.split(":")
        if kind == "cut":
            del content[int(words[0]) :]
        elif kind == "bytes":
            start = _get(content, _section(content, words[0]), _SECTION["sh_offset"]) + int(words[1], 0)
            new = bytes.fromhex(words[2])
            content[start : start + len(new)] = new
        else:
            *where, field, number = words
            start, fields = _place(content, kind, where)
            if number.startswith("@"):
                number = str(_get(content, _place(content, kind, [number[1:]])[0], fields[field]))
            _put(content, start, fields[field], number)
    return bytes(content)


def _place(content: bytearray, kind: str, where: Sequence[str]) -> tuple[int, Mapping[str, tuple[int, int]]]:
    if kind == "header":
        return 0, _HEADER
    if kind == "section":
        return _section(content, where[0]), _SECTION
    if kind == "segment":
        return _get(content, 0, _HEADER["e_phoff"]) + 56 * int(where[0]), _SEGMENT
    if kind == "relocation":
        return _get(content, _section(content, where[0]), _SECTION["sh_offset"]) + 24 * int(where[1]), _RELOCATION
    table = _section(content, {"symbol": ".symtab", "dynsym": ".dynsym"}[kind])
    names = _get(content, 0, _HEADER["e_shoff"]) + 64 * _get(content, table, _SECTION["sh_link"])
    first, size = (_get(content, table, _SECTION[field]) for field in ("sh_offset", "sh_size"))
    for start in range(first, first + size, 24):
        if _name(content, names, _get(content, start, _SYMBOL["st_name"])) == where[0]:
            return start, _SYMBOL
    raise ValueError(f"no symbol {where[0]}")


def _section(content: bytearray, name: str) -> int:
    first, number, names = (_get(content, 0, _HEADER[field]) for field in ("e_shoff", "e_shnum", "e_shstrndx"))
    for start in range(first, first + 64 * number, 64):
        if _name(content, first + 64 * names, _get(content, start, _SECTION["sh_name"])) == name:
            return start
    raise ValueError(f"no section {name}")


def _name(content: bytearray, table: int, at: int) -> str:
    start = _get(content, table, _SECTION["sh_offset"]) + at
    return content[start : content.index(0, start)].decode()


def _get(content: bytearray, start: int, field: tuple[int, int]) -> int:
    at, size = field
    return int.from_bytes(content[start + at : start + at + size], "little")


def _put(content: bytearray, start: int, field: tuple[int, int], number: str) -> None:
    at, size = field
    value = int(number, 0) + (_get(content, start, field) if number[0] in "+-" else 0)
    content[start + at : start + at + size] = (value % (1 << 8 * size)).to_bytes(size, "little")


# ---- judging


class TooLongError(BaseException):
    """A verdict that did not come in time; no handler of errors catches it."""


def verdict(arguments: Sequence[str], limit: float = 4 * SECONDS) -> str:
    """How `setwise` with these arguments ends, in this process, which waits no longer than the limit.

    proved, refuted, not proved; refused: a line of complaint; else what no input may lead to: takes too long, or the
    name of an exception.
    """
    return ending(arguments, limit)[0]


def ending(arguments: Sequence[str], limit: float) -> tuple[str, str]:
    """The verdict, and all that was printed."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = _status(arguments, limit)
    printed, complaints = out.getvalue(), err.getvalue()
    if isinstance(status, int):
        status = _read_off(status, printed, complaints)
    return status, printed + complaints


def _status(arguments: Sequence[str], limit: float) -> int | str:
    start = time.process_time()
    try:
        with _limited(limit):
            status = main(arguments)
    except TooLongError:
        return "takes too long"
    except Exception as error:  # whatever it is, its user would see a traceback
        return f"raises {type(error).__name__}"
    return "takes too long" if time.process_time() - start > max(SECONDS, limit / 4) else status


def _read_off(status: int, printed: str, complaints: str) -> str:
    if status == 2:
        return "refused" if complaints.count("\n") == 1 and not printed else "complains in several lines"
    said = printed.partition("\n")[0].rpartition(": ")[2]
    if (said == "proved") != (status == 0) or said not in ("proved", "refuted", "not proved"):
        return f"ends with {status} and {said!r}"
    return "contradicts itself" if "the proof is wrong" in printed else said


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def not_proved() -> dict[str, tuple[str, str]]:
    """The right objects that are not proved today, by their labels: the verdict, and words of what is said of it."""
    found = {}
    for line in (HERE / "right" / "known.txt").read_text().splitlines():
        if not line.startswith("#"):
            label, _, end = line.partition(" ")
            status, _, why = end.partition(": ")
            found[label] = status, why
    return found
