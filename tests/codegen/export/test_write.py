"""Files of an export come all or not at all, whatever stands in the way."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from setwise.codegen.export.write import NotWritten, write

FILES = {"one.s": b"first\n", "two.s": b"second\n", "three.s": b"third\n"}


def content(directory: Path) -> dict[str, bytes]:
    """Everything in a directory, hidden files included."""
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_all_files_are_there_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    assert content(tmp_path) == FILES


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
    with pytest.raises(NotWritten, match=r"holds 'two\.s', which no export wrote: give a new directory"):
        write(tmp_path, FILES, force)
    (tmp_path / "mine").write_bytes(b"mine\n")
    with pytest.raises(NotWritten, match=r"holds 'mine', which no export wrote"):
        write(tmp_path, FILES, force, ours)
    assert content(tmp_path) == {"two.s": b"mine\n", "mine": b"mine\n"}


def test_force_replaces_an_earlier_export(tmp_path: Path) -> None:
    for name in ("two.s", "old.s"):
        (tmp_path / name).write_bytes(b"earlier\n")
    with pytest.raises(NotWritten, match="already holds an export: give --force"):
        write(tmp_path, FILES, False, ours)
    assert content(tmp_path) == {"two.s": b"earlier\n", "old.s": b"earlier\n"}
    write(tmp_path, FILES, True, ours)
    assert content(tmp_path) == FILES


def test_a_link_or_a_directory_is_no_file_of_an_export(tmp_path: Path) -> None:
    (tmp_path / "two.s").symlink_to(tmp_path / "nowhere")
    with pytest.raises(NotWritten, match=r"holds 'two\.s', which no export wrote"):
        write(tmp_path, FILES, True, ours)
    (tmp_path / "two.s").unlink()
    (tmp_path / "two.s").mkdir()
    with pytest.raises(NotWritten, match=r"holds 'two\.s', which no export wrote"):
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
        with pytest.raises(NotWritten, match="is the working directory"):
            write(name, FILES)


@pytest.mark.parametrize("name", ["", "a/b", "../a", "a\nb", "a b", "\udcff", "con", "NUL.s", ".hidden", "a\0"])
def test_illegal_names_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotWritten, match="is not a portable file name"):
        write(tmp_path / "new", {**FILES, name: b""})
    assert not (tmp_path / "new").exists()


def test_names_that_differ_by_case_alone_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotWritten, match="differ only in case"):
        write(tmp_path, {"a.s": b"", "A.s": b""})


def test_a_file_in_the_place_of_the_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"mine")
    with pytest.raises(NotWritten, match="file is not a directory"):
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
    with pytest.raises(NotWritten, match="which no export wrote"):
        write("/proc/self", FILES)
    with pytest.raises(NotWritten, match="nothing was written"):
        write("/proc/self/new", FILES)


@pytest.mark.parametrize("call", range(1, 7))
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), KeyboardInterrupt()])
def test_nothing_is_left_wherever_it_breaks(
    call: int, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The n-th write or rename fails; what was there before is there again."""
    target = tmp_path / "out"
    target.mkdir()
    (target / "two.s").write_bytes(b"earlier\n")
    calls = 0

    def counting(function: Callable[..., object]) -> Callable[..., object]:
        def counted(*arguments: object) -> object:
            nonlocal calls
            calls += 1
            if calls == call:
                raise error
            return function(*arguments)

        return counted

    monkeypatch.setattr(Path, "rename", counting(Path.rename))
    monkeypatch.setattr(Path, "write_bytes", counting(Path.write_bytes))
    if call > 5:  # three files are written, then two directories renamed
        write(target, FILES, True, ours)
        assert content(target) == FILES
    else:
        with pytest.raises((NotWritten, KeyboardInterrupt)):
            write(target, FILES, True, ours)
        assert content(target) == {"two.s": b"earlier\n"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
