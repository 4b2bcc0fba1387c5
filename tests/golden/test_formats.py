"""The reference of files is what the classes say, and has each field of the reports' data, each option with a file."""

import re
from pathlib import Path

import msgspec
import pytest

from setwise.analysis.commands.parser import COMMANDS, commands, parser
from setwise.analysis.exports.export import export
from setwise.analysis.exports.metadata import NAME
from setwise.analysis.report.report_files import PATH, read
from setwise.codegen.catalogue import find
from setwise.codegen.export.formats import FORMATS
from tests.golden.formats import FILE, Metadata, text

ROOT = FILE.parents[1]
PAGE = FILE.read_text(encoding="utf-8")


def test_the_page_is_what_the_classes_say() -> None:
    assert text() == PAGE
    assert not re.search(r"\bNone\b", PAGE)


def test_the_reports_data_is_read_by_its_class() -> None:
    assert [file.name for file in (ROOT / "reports" / "data").iterdir()] == [Path(PATH).name]
    recorded = read(ROOT / "reports")
    assert recorded.sessions
    assert recorded.shortest.keys() == recorded.compilers.keys()


@pytest.mark.parametrize(
    ("name", "isa"), [("sliders.union", "avx2"), ("exploding.bishop.big-endian", "x86-64"), ("bytewise.add", "x86-64")]
)
def test_metadata_has_the_fields_that_the_page_names(name: str, isa: str, tmp_path: Path) -> None:
    export([find(name)], str(tmp_path), "nasm", [isa], unproved=True)
    content = (tmp_path / NAME).read_bytes()
    (kernel,) = msgspec.json.decode(content, type=Metadata).kernels
    assert kernel.name == name
    with pytest.raises(msgspec.ValidationError, match="unknown field `titel`"):
        msgspec.json.decode(content.replace(b'"summary"', b'"titel": 0, "summary"'), type=Metadata)


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
