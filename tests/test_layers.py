"""What may know of what: each folder only those above it, and the maker of bytes nothing of their judges."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]

ORDER = (
    "codegen.version",
    "codegen.files",
    "codegen.board",
    "codegen.numbering",
    "codegen.literature",
    "codegen.machine",
    "codegen.ir",
    "codegen.targets",
    "codegen.fills",
    "codegen.tables",
    "codegen.own",
    "codegen.catalogue",
    "codegen.kernel",
    "codegen.passes",
    "codegen.regalloc",
    "codegen.pipeline",
    "codegen.lower",
    "codegen.variants",
    "codegen.request",
    "codegen.assemble",
    "codegen.run",
    "codegen.export",
    "analysis.text",
    "analysis.errors",
    "analysis.progress",
    "analysis.workers",
    "analysis.code",
    "analysis.parallel",
    "analysis.semantics",
    "analysis.spec",
    "analysis.run",
    "analysis.proof",
    "analysis.proofs",
    "analysis.search",
    "analysis.cost",
    "analysis.bench",
    "analysis.exports",
    "analysis.pictures",
    "analysis.api",
    "analysis.report",
    "analysis.commands",
    "analysis.atlas",
)
"""Folders, and files that stand in none: each may import those before it, and its own."""

JUDGES = ("analysis.code", "analysis.semantics", "analysis.proof", "analysis.cost")
"""They know bytes alone."""

DOORS = ("analysis.code.elf_reader", "analysis.code.binary", "analysis.cost.processors.processor")
"""The modules of judges that import codegen: to read files, take the bytes of a kernel, and name processors."""


@cache
def imported(path: Path) -> tuple[str, ...]:
    """What a file imports, wherever in it: modules, and what is taken out of them by `from`."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            found += (f"{'.' * node.level}{node.module or ''}.{name.name}" for name in node.names)
    return tuple(found)


def modules() -> dict[str, Path]:
    """Every file of the two packages by its module's name, without `setwise.`."""
    files = [path for folder in ("codegen", "analysis") for path in (ROOT / folder).rglob("*.py")]
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in files}


def folder_of(module: str) -> str | None:
    """The entry of ORDER that a module, or a name in it, belongs to."""
    return next((entry for entry in ORDER if f"{module}.".startswith(f"{entry}.")), None)


def test_every_module_has_its_place() -> None:
    found = set(modules())
    assert len(found) > 150
    assert {module for module in found if folder_of(module) is None} == {"codegen", "analysis"}
    assert all(any(f"{module}.".startswith(f"{entry}.") for module in found) for entry in ORDER)


def test_what_makes_bytes_knows_nothing_of_what_judges_them() -> None:
    for module, path in modules().items():
        if module.startswith("codegen"):
            assert not [name for name in imported(path) if name.startswith(("setwise.analysis", "tests"))], module


def test_modules_are_imported_by_their_one_name() -> None:
    """`codegen.x` beside `setwise.codegen.x` would be a second copy; `setwise.x` is the public face."""
    for path in [*modules().values(), *(ROOT / "tests").rglob("*.py"), *(ROOT / "setwise").glob("*.py")]:
        names = set(imported(path))
        assert not [name for name in names if name.partition(".")[0] in ("codegen", "analysis", "")], path
    for module, path in modules().items():
        inside = ("setwise.codegen.", "setwise.analysis.")
        assert all(f"{name}.".startswith(inside) for name in imported(path) if name.startswith("setwise")), module


def test_folders_import_only_those_above_them() -> None:
    upwards = set()
    for module, path in modules().items():
        folder = folder_of(module)
        for name in imported(path):
            other = folder_of(name.removeprefix("setwise."))
            if folder and other and ORDER.index(other) > ORDER.index(folder):
                upwards.add((module, other))
    assert not upwards


def test_judges_know_bytes_alone() -> None:
    reaching = {
        module
        for module, path in modules().items()
        if f"{module}.".startswith(tuple(f"{judge}." for judge in JUDGES))
        and any(name.startswith("setwise.codegen") for name in imported(path))
    }
    assert reaching == set(DOORS)


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports inside functions included."""
    known = modules()
    needs = {
        module: {used for name in imported(path) if (used := module_of(name, known))} - {module}
        for module, path in known.items()
    }
    while free := {module for module, used in needs.items() if not used & needs.keys()}:
        needs = {module: used for module, used in needs.items() if module not in free}
    assert not needs


def module_of(name: str, known: dict[str, Path]) -> str | None:
    """The module that an imported name is, or is of."""
    name = name.removeprefix("setwise.")
    return name if name in known else name.rpartition(".")[0] if name.rpartition(".")[0] in known else None


def test_nothing_imports_the_commands() -> None:
    face = {f"setwise.{path.stem}": path for path in (ROOT / "setwise").glob("*.py")}
    importing = {
        module
        for module, path in (modules() | face).items()
        if not f"{module}.".startswith("analysis.commands.")
        and any(f"{name}.".startswith("setwise.analysis.commands.") for name in imported(path))
    }
    assert importing == {"setwise.__main__"}
