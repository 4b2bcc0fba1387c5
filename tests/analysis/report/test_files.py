"""Reports as files: written whole or not at all, compared to the line, recorded figures read back as they were."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from setwise.analysis.report import markdown
from setwise.analysis.report.files import Difference, differences, write
from setwise.analysis.report.markdown import figure, filled, table
from setwise.analysis.report.records import as_json

FILES = {"README.md": "# One\n\ntwo\n", "data/rows.json": '{"rows": []}\n', "pictures/one.svg": "<svg/>\n"}


def test_what_is_written_is_as_it_should_be(tmp_path: Path) -> None:
    write(tmp_path / "reports", FILES)
    assert list(differences(tmp_path / "reports", FILES)) == []
    assert (tmp_path / "reports" / "data" / "rows.json").read_bytes() == b'{"rows": []}\n'


def test_other_files_stay(tmp_path: Path) -> None:
    (tmp_path / "SOUNDNESS.md").write_text("by hand", encoding="utf-8")
    write(tmp_path, FILES)
    assert (tmp_path / "SOUNDNESS.md").read_text(encoding="utf-8") == "by hand"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["README.md", "SOUNDNESS.md", "data", "pictures"]
    assert list(differences(tmp_path, FILES)) == []


def test_a_difference_names_the_file_the_line_and_both_texts(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    (tmp_path / "README.md").write_text("# One\n\nthree\n", encoding="utf-8")
    (difference,) = differences(tmp_path, FILES)
    assert difference == Difference("README.md", 3, "three", "two")
    assert str(difference) == "README.md, line 3: 'three' is there, 'two' should be"


def test_a_difference_far_to_the_right_is_shown() -> None:
    difference = Difference("a.md", 1, "x" * 200 + "1" + "y" * 200, "x" * 200 + "2" + "y" * 200)
    there, wanted = str(difference).split(" is there, ")
    assert "x1y" in there
    assert "x2y" in wanted
    assert len(str(difference)) < 250


@pytest.mark.parametrize(("there", "line"), [("# One\n\ntwo\nmore\n", 4), ("# One\n", 2), ("# One\n\ntwo", 3)])
def test_lines_too_many_and_too_few_differ(tmp_path: Path, there: str, line: int) -> None:
    write(tmp_path, FILES)
    (tmp_path / "README.md").write_text(there, encoding="utf-8")
    (difference,) = differences(tmp_path, FILES)
    assert (difference.path, difference.line) == ("README.md", line)


def test_a_checkout_with_other_ends_of_lines_is_the_same(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    (tmp_path / "README.md").write_bytes(FILES["README.md"].replace("\n", "\r\n").encode())
    assert list(differences(tmp_path, FILES)) == []


def test_missing_files_and_files_that_nothing_makes_differ(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    (tmp_path / "README.md").unlink()
    (tmp_path / "pictures" / "stale.svg").write_text("<svg/>", encoding="utf-8")
    said = sorted(map(str, differences(tmp_path, FILES)))
    assert said == ["README.md: is missing", "pictures/stale.svg: is not made by any command"]


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match=r"^cannot write .*file") as raised:
        write(tmp_path / "file" / "reports", FILES)
    assert "\n" not in str(raised.value)


def test_nothing_is_written_where_one_file_cannot_be(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    (tmp_path / "pictures" / "two.svg").mkdir()
    changed = {path: content + "more\n" for path, content in FILES.items()}
    with pytest.raises(ValueError, match="cannot write"):
        write(tmp_path, {"a" * 300: "name too long", **changed})
    assert list(differences(tmp_path, FILES, ours=("data",))) == []


def test_json_has_a_row_a_line_and_reads_back() -> None:
    rows = [{"name": "a|b", "cycles": 1.5, "flags": ["x"]}, {"name": "c", "cycles": None, "flags": []}]
    text = as_json(rows, "setwise report --measure", machine="a processor")
    assert json.loads(text) == {"made_by": "setwise report --measure", "machine": "a processor", "rows": rows}
    assert sum('"name"' in line for line in text.splitlines()) == 2
    assert json.loads(as_json([]))["rows"] == []


TEMPLATE = "# Title\n\n{block}\n\na {missing} line\n\nanother\n\n## Lost\n\nwords\n\n{none}\n\n---\nend\n"


def test_a_template_leaves_out_what_it_is_not_given_and_cells_do_not_break_tables() -> None:
    assert filled(TEMPLATE, {"block": "{x}", "none": None}) == "# Title\n\n{x}\n\nanother\n\n---\nend\n"
    kept = "# Title\n\na lost line\n\nanother\n\n## Lost\n\nwords\n\nfound\n\n---\nend\n"
    assert filled(TEMPLATE, {"block": "", "none": "found", "missing": "lost"}) == kept
    assert table(("a",), [("x|y",)]).splitlines()[-1] == "| x\\|y |"
    assert [figure(value) for value in (0.05, 12.34, 7.0)] == ["0.1", "12.3", "7"]


def test_every_page_says_what_made_it() -> None:
    templates = list((Path(markdown.__file__).parent / "templates").iterdir())
    assert len(templates) == 3
    for template in templates:
        last = template.read_text(encoding="utf-8").splitlines()[-1]
        assert last.startswith(("Made by `setwise report", "Made by `python -m tests.columns.measure`")), template
