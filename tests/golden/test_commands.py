"""The reference has every command with all its options."""

from setwise.analysis.commands.parser import COMMANDS, commands, parser
from tests.golden.commands import FILE, text


def test_the_page_is_what_the_parser_says() -> None:
    page = FILE.read_text(encoding="utf-8")
    assert page == text()
    for name, command in commands(parser(COMMANDS)).items():
        section = page.partition(f"\n## setwise {name}\n")[2].partition("\n## ")[0]
        assert section
        for action in command._actions:
            assert action.help, (name, action.dest)
            for option in {*action.option_strings} - {"-h", "--help"}:
                assert option in section
