"""The reference of files is what the classes say, and has each field of the reports' data, each option with a file."""

import json
import re

import pytest

from setwise.analysis.commands.parser import COMMANDS, commands, parser
from setwise.codegen.export.formats import FORMATS
from tests.golden.formats import FILE, FILES, Data, text

ROOT = FILE.parents[1]
DATA = {data.path: data for data in FILES}
PAGE = FILE.read_text(encoding="utf-8")


def test_the_page_is_what_the_classes_say() -> None:
    assert text() == PAGE
    assert not re.search(r"\bNone\b", PAGE)
    assert {f"data/{file.name}" for file in (ROOT / "reports" / "data").iterdir()} <= DATA.keys()


@pytest.mark.parametrize("path", [path for path in DATA if (ROOT / "reports" / path).exists()])
def test_the_reports_data_has_these_fields(path: str) -> None:
    data: Data = DATA[path]
    held = json.loads((ROOT / "reports" / path).read_text("utf-8"))
    assert held.keys() == {"made_by", "rows", *data.head}
    assert held["made_by"].startswith(data.made_by)
    used = {key for row in held["rows"] for key in row}
    assert used <= data.rows.keys()
    empty = {key for key, hint in data.rows.items() if key in ("reason", "right", "bounds") or "None" in str(hint)}
    assert data.rows.keys() - used <= empty


def test_every_option_that_takes_a_file_is_there() -> None:
    objects = next(line for line in PAGE.splitlines() if "`--object FILE` of" in line)
    for name, command in commands(parser(COMMANDS)).items():
        for action in command._actions:
            if action.metavar in ("FILE", "DIR"):
                option = [*action.option_strings[-1:], action.metavar]
                named = f"`{name}`" if action.dest == "object" else f"`setwise {' '.join([name, *option])}`"
                assert named in (objects if action.dest == "object" else PAGE), named


def test_the_page_for_engine_authors_names_every_format() -> None:
    page = (ROOT / "docs" / "engine-authors.md").read_text("utf-8")
    assert [name for name in FORMATS if not re.search(f"`(--format )?{name}\\b", page)] == []
