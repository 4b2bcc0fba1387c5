"""The size of the repository: fails where codegen, analysis and setwise have more lines with code than budgeted.

`make test` runs it. The budget stands in pyproject.toml.
"""

import ast
import io
import sys
import tokenize
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
_BLANK = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def code_lines(source: str) -> int:
    """Count the lines with code: no blank lines, comments or docstrings, those of attributes included.

    >>> code_lines("x = 1  # one\\n'''Its docstring.'''\\n\\n# done\\n")
    1
    """
    strings = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Expr)]
    docs = {(text.lineno, text.col_offset) for text in strings if _is_string(text)}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _BLANK and not (token.type == tokenize.STRING and token.start in docs):
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines)


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def python_files(*folders: str) -> Iterator[Path]:
    """Yield the Python files of these folders; setwise holds links to the other two."""
    for folder in folders:
        yield from (ROOT / folder).glob("*.py" if folder == "setwise" else "**/*.py")


def main() -> int:
    """Print the figures; return 1 where the budget is exceeded."""
    packages = [path.read_text("utf-8") for path in python_files("codegen", "analysis", "setwise")]
    code, most = sum(map(code_lines, packages)), budget()
    print(
        f"{code:,} lines with code of {most:,} in codegen, analysis and setwise ({_lines(packages):,} in all); tests: "
        f"{_lines(path.read_text('utf-8') for path in python_files('tests')):,} lines; JSON: {_json() // 1000:,} KB"
    )
    if code > most:
        print("more code than [tool.setwise] in pyproject.toml allows: remove some", file=sys.stderr)
    return int(code > most)


def budget() -> int:
    """Return the number of lines with code that pyproject.toml allows."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    lines: int = settings["tool"]["setwise"]["code-lines"]
    return lines


def _lines(texts: Iterable[str]) -> int:
    return sum(len(text.splitlines()) for text in texts)


def _json() -> int:
    folders = (ROOT / name for name in ("codegen", "analysis", "reports", "tests", "docs"))
    return sum(path.stat().st_size for folder in folders for path in folder.rglob("*.json"))


if __name__ == "__main__":
    sys.exit(main())
