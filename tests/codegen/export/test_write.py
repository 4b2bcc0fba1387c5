"""Files of an export come all or not at all, whatever stands in the way."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from setwise.codegen.export import write as writing
from setwise.codegen.export.write import NotWritten, write

FILES = {"one.s": b"first\n", "two.s": b"second\n", "three.s": b"third\n"}


def content(directory: Path) -> dict[str, bytes]:
    """Everything in a directory, hidden files included."""
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_all_files_are_there_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    assert content(tmp_path) == FILES


def test_directories_are_made(tmp_path: Path) -> None:
    write(tmp_path / "a" / "b", FILES)
    assert content(tmp_path / "a" / "b") == FILES


def ours(_: Path) -> set[str]:
    """What an earlier export says that it wrote."""
    return {"one.s", "two.s", "old.s"}


def test_an_empty_directory_is_taken_with_its_rights(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir(mode=0o750)
    (tmp_path / "out").chmod(0o750)
    write(tmp_path / "out", FILES)
    assert content(tmp_path / "out") == FILES
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o750


@pytest.mark.parametrize("force", [False, True])
def test_what_no_export_wrote_is_kept(force: bool, tmp_path: Path) -> None:
    (tmp_path / "two.s").write_bytes(b"mine\n")
    with pytest.raises(NotWritten, match=r"holds 'two\.s', not written by an export: give a new directory"):
        write(tmp_path, FILES, force)
    (tmp_path / "mine").write_bytes(b"mine\n")
    with pytest.raises(NotWritten, match=r"holds 'mine', not written"):
        write(tmp_path, FILES, force, ours)
    assert content(tmp_path) == {"two.s": b"mine\n", "mine": b"mine\n"}


def test_force_replaces_an_earlier_export(tmp_path: Path) -> None:
    for name in ("two.s", "old.s"):
        (tmp_path / name).write_bytes(b"earlier\n")
    with pytest.raises(NotWritten, match="an export is there already: give --force"):
        write(tmp_path, FILES, False, ours)
    assert content(tmp_path) == {"two.s": b"earlier\n", "old.s": b"earlier\n"}
    write(tmp_path, FILES, True, ours)
    assert content(tmp_path) == FILES


def test_a_link_or_a_directory_is_no_file_of_an_export(tmp_path: Path) -> None:
    (tmp_path / "two.s").symlink_to(tmp_path / "nowhere")
    with pytest.raises(NotWritten, match=r"holds 'two\.s', not written"):
        write(tmp_path, FILES, True, ours)
    (tmp_path / "two.s").unlink()
    (tmp_path / "two.s").mkdir()
    with pytest.raises(NotWritten, match=r"holds 'two\.s', not written"):
        write(tmp_path, FILES, True, ours)
    assert [path.name for path in tmp_path.iterdir()] == ["two.s"]


def test_a_directory_that_may_not_be_written_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "out").mkdir()
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(NotWritten, match="out: permission denied: nothing was written"):
        write(tmp_path / "out", FILES)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_link_to_a_directory_leads_there(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("real")
    write(tmp_path / "link", FILES)
    assert (tmp_path / "link").is_symlink()
    assert content(tmp_path / "real") == FILES


def test_the_directory_that_a_shell_is_in_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (".", str(tmp_path)):
        with pytest.raises(NotWritten, match="is the directory you are in"):
            write(name, FILES)


@pytest.mark.parametrize("name", ["", "a/b", "../a", "a\nb", "a b", "\udcff", "con", "NUL.s", ".hidden", "a\0"])
def test_illegal_names_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotWritten, match="is no file name"):
        write(tmp_path / "new", {**FILES, name: b""})
    assert not (tmp_path / "new").exists()


def test_names_that_differ_by_case_alone_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotWritten, match="some systems take for one"):
        write(tmp_path, {"a.s": b"", "A.s": b""})


def test_a_file_in_the_place_of_the_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"mine")
    with pytest.raises(NotWritten, match="file is no directory"):
        write(tmp_path / "file", FILES)
    with pytest.raises(NotWritten, match="not a directory"):
        write(tmp_path / "file" / "deeper", FILES)


@pytest.mark.parametrize("name", ["a\0b", "x" * 300])
def test_illegal_directories_are_refused_in_one_line(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotWritten) as caught:
        write(tmp_path / name, FILES)
    assert "\n" not in str(caught.value)


def test_where_nobody_may_write(tmp_path: Path) -> None:
    """Even root may not make files in /proc."""
    if not Path("/proc/self").is_dir():
        pytest.skip("not run: no /proc")
    with pytest.raises(NotWritten, match="not written by an export"):
        write("/proc/self", FILES)
    with pytest.raises(NotWritten, match="nothing was written"):
        write("/proc/self/new", FILES)


def test_a_disk_that_fills(tmp_path: Path) -> None:
    """A limit on files' sizes breaks a write in its middle, as a full disk does."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    program = (
        "from setwise.codegen.export.write import write; import sys; write(sys.argv[1], {'a': b'1', 'b': bytes(5000)})"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "new")]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)
    assert "NotWritten" in done.stderr
    assert "file too large: nothing was written" in done.stderr
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("exchange", [True, False])
@pytest.mark.parametrize("call", range(1, 10))
def test_nothing_is_left_wherever_it_breaks(
    call: int, exchange: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The n-th write, sync or rename fails; what was there before is there again."""
    target = tmp_path / "out"
    target.mkdir()
    (target / "two.s").write_bytes(b"earlier\n")
    calls = 0

    def counting(function: object) -> object:
        def counted(*arguments: object, **options: object) -> object:
            nonlocal calls
            calls += 1
            if calls == call:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return function(*arguments, **options)  # type: ignore[operator]

        return counted

    monkeypatch.setattr(writing.os, "fsync", counting(os.fsync))
    monkeypatch.setattr(Path, "rename", counting(Path.rename))
    monkeypatch.setattr(writing, "_write", counting(writing._write))
    monkeypatch.setattr(writing, "_exchanged", counting(writing._exchanged) if exchange else lambda *_: False)
    if call > (7 if exchange else 8):  # three files: three times write and sync, then one exchange or two renames
        write(target, FILES, True, ours)
        assert content(target) == FILES
    else:
        with pytest.raises(NotWritten, match="no space left on device: nothing was written"):
            write(target, FILES, True, ours)
        assert content(target) == {"two.s": b"earlier\n"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_command_that_was_killed_is_repaired_by_the_next(tmp_path: Path) -> None:
    """Between its two renames, and behind them; what a user called .out.old or .out.new is the user's."""
    for name in (".out.old", ".out.new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine").write_bytes(b"mine\n")
    for name in (".out.setwise-old", ".out.setwise-new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "two.s").write_bytes(b"earlier\n")
    with pytest.raises(NotWritten, match="an export is there already: give --force"):
        write(tmp_path / "out", FILES, False, ours)
    assert content(tmp_path / "out") == {"two.s": b"earlier\n"}
    (tmp_path / ".out.setwise-old").mkdir()
    (tmp_path / ".out.setwise-old" / "two.s").write_bytes(b"earlier\n")
    write(tmp_path / "out", FILES, True, ours)
    assert content(tmp_path / "out") == FILES
    assert sorted(path.name for path in tmp_path.iterdir()) == [".out.new", ".out.old", "out"]
    assert content(tmp_path / ".out.old") == content(tmp_path / ".out.new") == {"mine": b"mine\n"}


WRITER = """
import sys, time
from setwise.codegen.export import write as writing
slow, real = float(sys.argv[3]), writing._write
def _write(path, content):
    time.sleep(slow)
    real(path, content)
writing._write = _write
files = {f"{at}.s": sys.argv[2].encode() * 1000 for at in range(12)}
print("begun", flush=True)
writing.write(sys.argv[1], files, True, lambda _: files)
"""


def begun(target: Path, letter: str, slow: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(target), letter, str(slow)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    return process


def letters(target: Path) -> list[str]:
    """The first letter of each file that is there."""
    return [path.read_bytes()[:1].decode() for path in target.iterdir()]


@pytest.mark.skipif(sys.platform == "win32", reason="nobody is locked out there")
def test_exports_at_once_do_not_mix(tmp_path: Path) -> None:
    for _ in range(3):
        writers = [begun(tmp_path / "out", letter, 0.005) for letter in "abcd"]
        assert [writer.wait() for writer in writers] == [0] * 4
        found = letters(tmp_path / "out")
        assert (len(found), len(set(found))) == (12, 1)
        assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals do not wait there")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("late", [0.0, 0.01, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3])
def test_a_signal_leaves_the_old_or_the_new(number: signal.Signals, late: float, tmp_path: Path) -> None:
    assert begun(tmp_path / "out", "a", 0).wait() == 0
    writer = begun(tmp_path / "out", "b", 0.02)
    time.sleep(late)
    writer.send_signal(number)
    writer.wait()
    assert letters(tmp_path / "out") in (["a"] * 12, ["b"] * 12)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    fresh = begun(tmp_path / "fresh", "b", 0.02)
    time.sleep(late)
    fresh.send_signal(number)
    fresh.wait()
    assert sorted(path.name for path in tmp_path.iterdir()) in (["out"], ["fresh", "out"])


def test_somebody_elses_lock_is_not_waited_for_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(writing, "_PATIENCE", 0.1)
    descriptor = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    with pytest.raises(NotWritten, match="is locked by another command"):
        write(tmp_path / "out", FILES)
    os.close(descriptor)
    write(tmp_path / "out", FILES)


def test_what_else_is_there_stays_among_the_reports(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "mine").write_bytes(b"mine\n")
    (tmp_path / "kept" / "empty").mkdir()
    (tmp_path / "link").symlink_to("nowhere")
    (tmp_path / "one.s").write_bytes(b"earlier\n")
    writing.write_among(tmp_path, {**FILES, "kept/new": b"new\n"})
    assert (tmp_path / "kept" / "mine").read_bytes() == b"mine\n"
    assert (tmp_path / "kept" / "new").read_bytes() == b"new\n"
    assert (tmp_path / "kept" / "empty").is_dir()
    assert (tmp_path / "link").readlink() == Path("nowhere")
    assert (tmp_path / "one.s").read_bytes() == FILES["one.s"]
