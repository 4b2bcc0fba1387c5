"""Writer of the solver queries of proofs, as files in SMT-LIB 2 for other solvers."""

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence

from setwise.analysis.errors import refused_by_system
from setwise.analysis.proof.solver import Question
from setwise.codegen.export.write import write

_LONGEST = 100  # the maximum length, in characters, of the title or of the subject in a file's name

Asked = tuple[Sequence[str], Sequence[Question]]
"""The arguments of `setwise prove` for one proof, and its solver queries."""


def write_questions(directory: str, proofs: Iterable[tuple[str, Asked]]) -> int:
    """Write a file for each query of titled proofs to a new or empty directory: all or none. Return their number.

    A file's name consists of the proof's title, numbered if it occurs again, and the query's number and subject.
    """
    files: dict[str, bytes] = {}
    titles: Counter[str] = Counter()
    for title, (words, questions) in proofs:
        begin = _plain(title)
        titles[begin] += 1
        if titles[begin] > 1:
            begin = f"{begin}-{titles[begin]}"
        command = " ".join(map(_in_a_line, ("setwise", "prove", *words, "--smt", "DIR")))
        for number, question in enumerate(questions, 1):
            files[f"{begin}.{number:03}.{_plain(question.about)}.smt2"] = question.text(command).encode()
    with refused_by_system():
        write(directory, files)
    return len(files)


def _plain(text: str) -> str:
    """Return the text for a file name: at most 100 ASCII letters, digits, dots, and "-" for all else, or "function"."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text)[:_LONGEST].strip("-.") or "function"


def _in_a_line(word: str) -> str:
    quoted = shlex.quote(word)
    return quoted if quoted.isprintable() else quoted.encode("unicode_escape").decode()
