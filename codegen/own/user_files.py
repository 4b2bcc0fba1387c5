"""Files and modules that hold routines of their user's own: `mine.py`, `mine.py:knights`, `package.module:knights`.

To find the routines of a file is to run it: a description is Python.
"""

from __future__ import annotations

import copyreg
import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from fnmatch import fnmatch
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

from setwise.codegen.files import NotRegularError, regular_content, resolved
from setwise.codegen.fills.batch import on_arrays
from setwise.codegen.ir.routine import Routine, Written
from setwise.codegen.own.definition import Definition, DescriptionError, made_in
from setwise.codegen.own.running import Failure, running

_MOST_BYTES = 1 << 24
_LOADED = "__setwise_content__"
"""The attribute of a file's module that holds what was run."""


def is_own(name: str) -> bool:
    """Whether a name is that of a user's own routine or file.

    >>> is_own("mine.py"), is_own("package.module:knights"), is_own("dumb7.attacks.sout")
    (True, True, False)
    """
    return name.endswith(".py") or ":" in name


def parted(name: str) -> tuple[str, str]:
    """The file or module of a name, and the routine in it that is meant, if one is.

    >>> parted("mine.py:knights"), parted("C:/mine.py"), parted("package.module:knights")
    (('mine.py', 'knights'), ('C:/mine.py', ''), ('package.module', 'knights'))
    """
    if name.endswith(".py"):
        return name, ""
    module, _, wanted = name.rpartition(":")
    return module, wanted


def routines_named(name: str) -> list[Routine]:
    """The routines that a name stands for: of a file all, of a function those of its directions; a pattern chooses.

    With `.batch` behind a function's name, or a direction's, they are those on arrays of boards.

    ValueError in one line for a file that is not there or does not run, and for a name that it does not hold.
    """
    module, wanted = parted(name)
    definitions = definitions_of(module)
    if not definitions:
        raise ValueError(f"{module} has no routine of its own: write @setwise.routine over a function")
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
        held = ", ".join(definition.name.rpartition(":")[2] for definition in definitions)
        raise ValueError(f"{module} has no routine '{wanted}': it has {held}")
    return like


def _on_arrays(routine: Routine) -> Routine:
    parameters, results = routine.contract.parameters, routine.contract.results
    if not routine.boards or len(results) > 1 or any(parameter.scalar for parameter in parameters):
        raise ValueError(f"{routine.name} has no .batch: that takes boards alone, in one direction, and gives one")
    return on_arrays(routine)


def definitions_of(module: str) -> list[Definition]:
    """The definitions that a file, or a module by its name, makes itself, in its order.

    ValueError where two have one name, by which only one could be meant.
    """
    if module.endswith(".py"):
        loaded = sys.modules[module] = _file(module, resolved(module), _content(module))
    else:
        loaded = _module(module)
    lines: dict[str, int] = {}
    for definition in made_in(loaded.__name__):
        line = definition.function.__code__.co_firstlineno
        if definition.name in lines:
            twice = f"(lines {lines[definition.name]} and {line})"
            raise ValueError(f"two routines are named {definition.name} {twice}: give each a name of its own")
        lines[definition.name] = line
    return made_in(loaded.__name__)


def source_digest(module: str, *, loaded: bool = False) -> str:
    """The SHA-256 of a file, or of a module's file, as it stands there now, or as it was when it was `loaded`.

    Nothing of it is run. ValueError where there is none.
    """
    content = getattr(sys.modules.get(module), _LOADED, None) if loaded else None
    if content is None and not module.endswith(".py"):
        inside = Path(*module.split("."))
        names = (inside.with_suffix(".py"), inside / "__init__.py")
        places = (Path(folder) / name for folder in ("", *sys.path) for name in names)
        content = _content(str(next((place for place in places if place.is_file()), names[0])))
    return hashlib.sha256(content or _content(module)).hexdigest()


def _content(file: str) -> bytes:
    try:
        content = regular_content(file, _MOST_BYTES, links=True)
    except (NotRegularError, FileNotFoundError, NotADirectoryError, IsADirectoryError, ValueError):
        raise ValueError(f"there is no file {file!r}: name a Python file that holds routines") from None
    except OSError as error:
        raise ValueError(f"{file!r} cannot be read: {(error.strerror or str(error)).lower()}") from None
    if len(content) > _MOST_BYTES:
        raise ValueError(f"{file!r} has more than {_MOST_BYTES} bytes: name a Python file that holds routines")
    return content


@cache
def _file(file: str, path: Path, content: bytes) -> ModuleType:
    """The module that a file of that content makes; its name is the file's, so its routines are named by it."""
    module = ModuleType(file)
    module.__file__ = str(path)
    setattr(module, _LOADED, content)
    sys.modules[file] = module
    try:
        with _importing(str(path.parent)), running(file, partial(_refused, file), DescriptionError):
            exec(compile(content, file, "exec"), module.__dict__)  # what was read, whatever stands there by now
    except BaseException:  # as an import that fails
        del sys.modules[file]
        raise
    return module


def _module(name: str) -> ModuleType:
    if name == "__main__" or not all(part.isidentifier() for part in name.split(".")):
        raise ValueError(f"'{name}' is no module: name a file, such as mine.py, or package.module")
    with _importing(str(resolved("."))), running(name, partial(_refused, name), DescriptionError):
        return importlib.import_module(name)


@contextmanager
def _importing(folder: str) -> Iterator[None]:
    """What lies in this folder can be imported, as beside a program that Python runs; what it prints is no output."""
    sys.path.insert(0, folder)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)


def _refused(name: str, failure: Failure) -> ValueError:
    """An error of the user's file in one line, with the line that it came from."""
    error = failure.error
    if isinstance(error, SyntaxError):
        return ValueError(f"{error.filename or name}:{error.lineno or 1}: {failure.text}")
    return ValueError(f"{name}:{failure.line}: {failure}" if failure.line else f"{name}: {failure}")


def _written_named(name: str, number: int) -> Written:
    """In another process: the specification of that routine, or its requirement of that number (from 1)."""
    contract = routines_named(name)[0].contract
    held_to = (contract.specification, *contract.requires)
    return next(written for written in held_to if isinstance(written, Written) and written.number == number)


def _reduced(written: Written) -> tuple[Callable[..., Any], tuple[str, int]]:
    return _written_named, (written.name, written.number)


copyreg.pickle(Written, _reduced)
