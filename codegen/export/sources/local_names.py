"""Names and comments of local values in exported source, from the lines of a description that compute the values."""

import ast
import linecache
from collections.abc import Iterator, Sequence
from functools import cache

from setwise.codegen.board import DIR8
from setwise.codegen.export.reserved import reserved
from setwise.codegen.machine.code import Line

_ENGLISH = {"nort": "north", "sout": "south", "east": "east", "west": "west"}
_ENGLISH |= {"noEa": "north-east", "noWe": "north-west", "soEa": "south-east", "soWe": "south-west"}
_MIRRORED = {direction.name: direction.mirrored.name for direction in DIR8}


def value_name(line: Line) -> str:
    """Return the name that a statement of a description gives to the expression at a source line, or "value".

    That is the variable assigned, the function called or else the function that returns it.
    """
    found = [(node, function) for node, function in _statements(line.file) if node.lineno <= line.number <= _end(node)]
    if not found:
        return "value"
    node, function = min(found, key=lambda each: _end(each[0]) - each[0].lineno)
    return _named(node, function, line.columns).strip("_") or "value"


def rays_text(directions: Sequence[str], *, mirrored: bool) -> str:
    """Return the directions of a register's lanes in English. `mirrored` says that lane 1 has the ranks reversed.

    >>> rays_text(["noEa"], mirrored=False), rays_text(["noEa", "noEa"], mirrored=True)
    ('North-east', 'Lanes: north-east; south-east, with the ranks reversed')
    """
    if not {*directions} <= {*_ENGLISH}:
        return f"Leaps by files and ranks: {', '.join(directions)}"
    if mirrored and len(directions) == 2:
        first, second = directions
        return f"Lanes: {_ENGLISH[first]}; {_ENGLISH[_MIRRORED[second]]}, with the ranks reversed"
    names = [_ENGLISH[name] for name in directions]
    return names[0].capitalize() if len(names) == 1 else f"Lanes: {', '.join(names)}"


def mask_name(board: int) -> str:
    """Return the name of a mask of whole files and ranks, or "mask" for another board.

    >>> mask_name(0xFEFE_FEFE_FEFE_FEFE), mask_name(0x007E_7E7E_7E7E_7E00), mask_name(0xFF00)
    ('not_file_a', 'not_files_ah_not_ranks_18', 'rank_2')
    """
    ranks = [board >> 8 * rank & 0xFF for rank in range(8)]
    files = max(ranks)
    parts = (_lines("file", "abcdefgh", files), _lines("rank", "12345678", sum(1 << r for r in range(8) if ranks[r])))
    return "mask" if {*ranks} - {0, files} or None in parts else "_".join(filter(None, parts)) or "all"


def _lines(what: str, names: str, chosen: int) -> str | None:
    """Return the name of these files or ranks, empty for all of them, or None for those without a short name."""
    inside = "".join(name for at, name in enumerate(names) if chosen >> at & 1)
    outside = "".join(name for name in names if name not in inside)
    short = inside if len(inside) < 3 else outside
    if len(short) > 2:
        return None
    return short and f"{'not_' * (short is outside)}{what}{'s' * (len(short) - 1)}_{short}"


class Names:
    """The names given so far in one function. Repeated names are numbered."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken

    def new(self, wanted: str) -> str:
        """Return the wanted name, or the first free one of those with a number behind it."""
        wanted = wanted.lower()
        wanted = f"{wanted}_" if reserved(wanted) else wanted if wanted.isascii() else "value"
        number, name = 1, wanted
        while name in self.taken:
            number += 1
            name = f"{wanted}{'_' * wanted[-1].isdigit()}{number}"
        self.taken.add(name)
        return name


@cache
def _statements(file: str) -> tuple[tuple[ast.stmt, str], ...]:
    """Return the simple statements of a file, each with the name of its function."""

    def walk(node: ast.AST, function: str) -> Iterator[tuple[ast.stmt, str]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt) and not hasattr(child, "body"):
                yield child, function
            yield from walk(child, child.name if isinstance(child, ast.FunctionDef) else function)

    return tuple(walk(ast.parse("".join(linecache.getlines(file))), ""))


def _named(node: ast.stmt, function: str, columns: tuple[int, int]) -> str:
    """Return the name of the expression at these columns of a statement."""
    at = [each for each in ast.walk(node) if isinstance(each, ast.Call) and _columns(each) == columns]
    whole = getattr(node, "value", None)
    if at and at[0] is not whole:
        called = at[0].func
        return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    tuples = [each.elts for each in ast.walk(node) if isinstance(each, ast.Tuple) and isinstance(each.ctx, ast.Load)]
    if isinstance(target, ast.Tuple):  # the variable at the expression's place
        places = [place for elements in tuples for place, each in enumerate(elements) if _columns(each) == columns]
        target = dict(enumerate(target.elts)).get(places[0] if places else 0)
    return target.id if isinstance(target, ast.Name) else function


def _columns(node: ast.expr) -> tuple[int, int]:
    return node.col_offset, node.end_col_offset or 0


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno
