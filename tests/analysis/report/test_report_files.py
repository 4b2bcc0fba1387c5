"""Reports as files: each written as a whole, compared to the line."""

from pathlib import Path

import pytest

from setwise.analysis.report.report_files import PATH, differences, write

FILES = {"README.md": "# One\n\ntwo\n", "data/rows.json": '{"rows": []}\n', "pictures/one.svg": "<svg/>\n"}


def test_written_files_do_not_differ_and_others_stay(tmp_path: Path) -> None:
    (tmp_path / "SOUNDNESS.md").write_text("by hand", encoding="utf-8")
    write(tmp_path, FILES)
    assert list(differences(tmp_path, FILES)) == []
    assert (tmp_path / "data" / "rows.json").read_bytes() == b'{"rows": []}\n'
    assert sorted(path.name for path in tmp_path.iterdir()) == ["README.md", "SOUNDNESS.md", "data", "pictures"]


@pytest.mark.parametrize(
    ("there", "line", "said"),
    [
        ("# One\n\nthree\n", 3, "'three' should be 'two'"),
        ("# One\n\ntwo\nmore\n", 4, "'more' should be 'no line'"),
        ("# One\n", 2, "'no line' should be ''"),
    ],
)
def test_a_difference_names_the_file_the_line_and_both_texts(tmp_path: Path, there: str, line: int, said: str) -> None:
    write(tmp_path, FILES)
    (tmp_path / "README.md").write_text(there, encoding="utf-8")
    assert list(differences(tmp_path, FILES)) == [f"README.md, line {line}: {said}"]


def test_missing_files_and_files_that_nothing_makes_differ(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    (tmp_path / "README.md").unlink()
    (tmp_path / "pictures" / "stale.svg").write_text("<svg/>", encoding="utf-8")
    said = sorted(differences(tmp_path, FILES))
    assert said == ["README.md: missing", "pictures/stale.svg: not a generated file"]


def test_a_file_that_cannot_be_written_is_one_line_and_none_is_half_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match=r"^cannot write .*file") as raised:
        write(tmp_path / "file" / "reports", FILES)
    assert "\n" not in str(raised.value)
    (tmp_path / "README.md").mkdir()
    with pytest.raises(ValueError, match=r"README\.md was not written by setwise report"):
        write(tmp_path, FILES)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["README.md", "file"]


@pytest.mark.parametrize("name", ["README.md", "pictures/one.svg", "data/rows.json"])
def test_what_it_did_not_write_is_left_alone(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(ValueError, match="was not written by setwise report: give another folder"):
        write(tmp_path, FILES)
    assert path.read_text("utf-8") == "mine"
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == [path]


def test_modes_are_kept(tmp_path: Path) -> None:
    files = {"a.md": "Made by `setwise report`.\n", PATH: "{}"}
    write(tmp_path, files)
    for path, mode in ((tmp_path, 0o700), (tmp_path / "data", 0o700), (tmp_path / "a.md", 0o600)):
        path.chmod(mode)
    write(tmp_path, files)
    assert [path.stat().st_mode & 0o777 for path in (tmp_path, tmp_path / "data", tmp_path / "a.md")] == [
        0o700,
        0o700,
        0o600,
    ]
