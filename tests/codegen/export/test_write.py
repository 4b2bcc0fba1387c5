"""Files of an export come all or not at all, whatever stands in the way."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
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


def test_an_existing_file_is_kept(tmp_path: Path) -> None:
    (tmp_path / "two.s").write_bytes(b"mine\n")
    with pytest.raises(NotWritten, match=r"two\.s is there already: give --force"):
        write(tmp_path, FILES)
    assert content(tmp_path) == {"two.s": b"mine\n"}


def test_force_replaces_it(tmp_path: Path) -> None:
    (tmp_path / "two.s").write_bytes(b"mine\n")
    (tmp_path / "other").write_bytes(b"kept\n")
    write(tmp_path, FILES, force=True)
    assert content(tmp_path) == {**FILES, "other": b"kept\n"}


def test_a_link_that_leads_nowhere_is_there_already(tmp_path: Path) -> None:
    (tmp_path / "two.s").symlink_to(tmp_path / "nowhere")
    with pytest.raises(NotWritten, match="is there already"):
        write(tmp_path, FILES)
    assert not (tmp_path / "one.s").exists()


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


def test_a_directory_in_the_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "two.s").mkdir()
    with pytest.raises(NotWritten, match=r"two\.s is a directory"):
        write(tmp_path, FILES, force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["two.s"]


@pytest.mark.parametrize("name", ["a\0b", "x" * 300])
def test_illegal_directories_are_refused_in_one_line(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotWritten) as caught:
        write(tmp_path / name, FILES)
    assert "\n" not in str(caught.value)


def test_where_nobody_may_write(tmp_path: Path) -> None:
    """Even root may not make files in /proc."""
    if not Path("/proc/self").is_dir():
        pytest.skip("not run: no /proc")
    with pytest.raises(NotWritten, match="nothing was written"):
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


@pytest.mark.parametrize("call", range(1, 13))
def test_nothing_is_left_wherever_it_breaks(call: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The n-th write, sync or rename fails; what was there before is there again."""
    (tmp_path / "two.s").write_bytes(b"mine\n")
    calls = 0

    def counting(function: object) -> object:
        def counted(*arguments: object, **options: object) -> object:
            nonlocal calls
            calls += 1
            if calls == call:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return function(*arguments, **options)  # type: ignore[operator]

        return counted

    monkeypatch.setattr(writing.os, "open", counting(os.open))
    monkeypatch.setattr(writing.os, "fsync", counting(os.fsync))
    monkeypatch.setattr(Path, "replace", counting(Path.replace))
    if call > 10:  # three files: three times open, sync and rename, and once more for the old one
        write(tmp_path, FILES, force=True)
        assert content(tmp_path) == FILES
        return
    with pytest.raises(NotWritten, match="no space left on device: nothing was written"):
        write(tmp_path, FILES, force=True)
    assert content(tmp_path) == {"two.s": b"mine\n"}
