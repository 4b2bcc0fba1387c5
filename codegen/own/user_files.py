"""Files and modules with a user's own routines: `mine.py`, `mine.py:knights`, `package.module:knights`.

A description is Python, so finding the routines of a file runs the file.
"""

import ast
import copyreg
import hashlib
import importlib
import importlib.util
import inspect
import linecache
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from difflib import get_close_matches
from fnmatch import fnmatch
from functools import cache, partial
from pathlib import Path
from types import ModuleType

from setwise.codegen.files import NotRegularError, read_regular, resolved
from setwise.codegen.fills.batch import on_arrays
from setwise.codegen.ir.routine import Routine, Written
from setwise.codegen.own.definition import Definition, DescriptionError, made_in
from setwise.codegen.own.running import Failure, first_line, running

_MOST_BYTES = 1 << 24
LOADED = "__setwise_content__"
"""The attribute of a file's module that holds the executed source."""


def is_own(name: str) -> bool:
    """Return whether a name denotes a user's own routine or file.

    >>> is_own("mine.py"), is_own("package.module:knights"), is_own("dumb7.attacks.sout")
    (True, True, False)
    """
    return name.endswith(".py") or ":" in name


def parted(name: str) -> tuple[str, str]:
    """Split a name into its file or module and the routine in it, "" if the name has none.

    >>> parted("mine.py:knights"), parted("C:/mine.py"), parted("package.module:knights")
    (('mine.py', 'knights'), ('C:/mine.py', ''), ('package.module', 'knights'))
    """
    if name.endswith(".py"):
        return name, ""
    module, _, wanted = name.rpartition(":")
    return module, wanted


def routines_named(name: str) -> list[Routine]:
    """Return the routines that a name denotes.

    A file denotes all its routines, a function one or those of its directions, a pattern all that match. `.batch` after
    the name or pattern denotes the same routines over arrays. Raise a one-line ValueError for a file that is
    missing or fails, for a name that it does not define, and for `.batch` if one of its routines cannot have it.
    """
    module, wanted = parted(name)
    definitions = definitions_of(module)
    if not definitions:
        raise ValueError(f"{module} defines no routine: write @setwise.routine above a function")
    if not wanted:
        return [routine for definition in definitions for routine in definition.routines]
    if wanted.endswith(".batch"):
        return [_on_arrays(routine) for routine in routines_named(name.removesuffix(".batch"))]
    full = f"{module}:{wanted}"
    for definition in definitions:
        if definition.name == full:
            return list(definition.routines)
    like = [r for definition in definitions for r in definition.routines if fnmatch(r.name, full)]
    if not like:
        held = [definition.name.rpartition(":")[2] for definition in definitions]
        near = ", ".join(get_close_matches(wanted, held) or held)
        raise ValueError(f"{module} has no routine '{wanted}': it has {near}")
    return like


def function_named(name: str, number: int = 0) -> Written:
    """Return a function of a file, `mine.py:masks`, as a specification, or as requirement `number` if that is above 0.

    Raise ValueError for a file that is missing or fails, and for a name that is no function in it.
    """
    module, wanted = parted(name)
    definitions_of(module)
    function = getattr(sys.modules[module], wanted, None)
    if not inspect.isfunction(function):
        what = "a routine: write --spec" if isinstance(function, Definition) else "no function of this file"
        raise ValueError(f"{name}: '{wanted}' is {what}")
    return Written(name, function, number, f"{module}:{first_line(function.__code__)}")


def _on_arrays(routine: Routine) -> Routine:
    if not routine.batched or any(p.scalar and p.kind != "results" for p in routine.contract.parameters):
        raise ValueError(f"{routine.name} has no .batch: leave it out, or take boards alone and at most one direction")
    return on_arrays(routine)


def definitions_of(module: str) -> list[Definition]:
    """Return the definitions that a file or module creates itself, in their order. A file is run once per content.

    Raise ValueError if two have the same name, or for a missing or failing file or module.
    """
    if module.endswith(".py"):
        loaded = sys.modules[module] = _file(module, resolved(module), _content(module))
    else:
        loaded = _module(module)
    made = made_in(loaded.__name__)
    remedy = ": before routine({0}) set {0}.__name__ and {0}.__qualname__"
    _distinct(module, "routines", ((each.name, first_line(each.function.__code__)) for each in made), remedy)
    return made


def source_digest(module: str, *, loaded: bool = False) -> str:
    """Return the SHA-256, in hexadecimal, of a file or of a module's file, which is not run.

    With `loaded` it is that of the content that was run, if the file was run. Raise ValueError if the file is missing.
    """
    content = getattr(sys.modules.get(module), LOADED, None) if loaded else None
    if content is None and not module.endswith(".py"):
        inside = Path(*module.split("."))
        names = (inside.with_suffix(".py"), inside / "__init__.py")
        places = (Path(folder) / name for folder in ("", *sys.path) for name in names)
        content = _content(str(next((place for place in places if place.is_file()), names[0])))
    return hashlib.sha256(content or _content(module)).hexdigest()


def _content(file: str) -> bytes:
    try:
        content = read_regular(file, _MOST_BYTES, links=True)
    except (NotRegularError, FileNotFoundError, NotADirectoryError, IsADirectoryError, ValueError):
        raise ValueError(f"there is no file {file!r}: name a Python file that holds routines") from None
    except OSError as error:
        raise ValueError(f"{file!r} cannot be read: {(error.strerror or str(error)).lower()}") from None
    if len(content) > _MOST_BYTES:
        raise ValueError(f"{file!r} has more than {_MOST_BYTES >> 20} MiB: name a Python file that holds routines")
    return content


@cache
def _file(file: str, path: Path, content: bytes) -> ModuleType:
    """Run a file's content as a module, and return it. Its name is `file`, with which its routines' names begin."""
    module = ModuleType(file)
    module.__file__ = str(path)
    setattr(module, LOADED, content)
    sys.modules[file] = module
    try:
        with _importing(str(path.parent)), running(file, partial(_refused, file), DescriptionError):
            tree = ast.parse(content, file)
            linecache.cache[file] = len(content), None, importlib.util.decode_source(content).splitlines(True), file
            functions = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name != "_"]
            _distinct(file, "functions", ((each.name, each.lineno) for each in functions), ", to _ if nothing calls it")
            exec(compile(tree, file, "exec"), module.__dict__)  # the read content, even if the file has changed
    except BaseException:  # a failed import removes its module, too
        del sys.modules[file]
        raise
    return module


def _distinct(file: str, what: str, named: Iterable[tuple[str, int]], remedy: str) -> None:
    """Raise DescriptionError if two functions have one name. `named` has names and lines; {} in `remedy` is a name."""
    lines: dict[str, int] = {}
    for name, line in named:
        if name in lines:
            twice = f"{file}:{line}: two {what} are named {name} (lines {lines[name]} and {line})"
            raise DescriptionError(f"{twice}: rename one{remedy.format(name.rpartition(':')[2].rpartition('.')[2])}")
        lines[name] = line


def _module(name: str) -> ModuleType:
    if name == "__main__" or not all(part.isidentifier() for part in name.split(".")):
        raise ValueError(f"'{name}' is not a module: name a file, such as mine.py, or package.module")
    with _importing(str(resolved("."))), running(name, partial(_refused, name), DescriptionError):
        return importlib.import_module(name)


@contextmanager
def _importing(folder: str) -> Iterator[None]:
    """Make modules in a folder importable, as for a script in it, and redirect stdout to stderr, within the block."""
    sys.path.insert(0, folder)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)


def _refused(name: str, failure: Failure) -> ValueError:
    """Return a one-line error for a failure in a user's file, with its line if known."""
    error = failure.error
    if isinstance(error, SyntaxError):
        return ValueError(f"{error.filename or name}:{error.lineno or 1}: {failure.text}")
    return ValueError(f"{name}:{failure.line}: {failure}" if failure.line else f"{name}: {failure}")


def _written_named(name: str, number: int) -> Written:
    """Return a named routine's specification (number 0), or its requirement of this number, for unpickling."""
    contract = routines_named(name)[0].contract
    held_to = (contract.specification, *contract.requires)
    return next(written for written in held_to if isinstance(written, Written) and written.number == number)


copyreg.pickle(Written, lambda written: (_written_named, (written.name, written.number)))
