"""What may stand in metadata.json instead of what an export wrote, and a process of its own that has it verified.

`python -m tests.analysis.exports.fuzzing DIRECTORY NUMBER` tries so many contents there, with a gibibyte of memory.
"""

import io
import json
import re
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from copy import deepcopy
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from setwise.analysis.commands import main as commands
from setwise.analysis.exports.metadata import NAME
from tests.analysis.fuzzing import MEMORY, warm

Way = tuple[Any, ...]

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 70),
    st.sampled_from([-(1 << 70), -1, 1 << 31, 1 << 63, 1 << 64, 10**400, 0.5, 1e308, float("nan"), float("inf")]),
    st.text(max_size=5),
    st.sampled_from(["", "..", "../x", "/etc/passwd", "a\0b", "\n", "\ud800", "0" * 64, "c3", "zz", "x" * 70_000]),
    st.sampled_from(["elf", "c", "avx2", "avx512", "bmi2", "win64", "wiki", "sliders.union", "dumb7.*", "proved"]),
)
JUNK = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def paths(value: Any, here: Way = ()) -> Iterator[Way]:
    """The way to every part of a record, the record itself first."""
    yield here
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from paths(part, (*here, key))


def changed(record: Any, draw: st.DrawFn) -> Any:
    """The record with one part replaced, moved a little way off, removed, or joined by another."""
    *way, last = draw(st.sampled_from([path for path in paths(record) if path]))
    holder = record
    for key in way:
        holder = holder[key]
    kind = draw(st.sampled_from(["alike", "alike", "replace", "remove", "add"]))
    if kind in ("alike", "replace"):
        holder[last] = alike(holder[last], draw) if kind == "alike" else draw(JUNK)
    elif kind == "remove":
        del holder[last]
    elif isinstance(holder, dict):
        holder[draw(st.text(max_size=8))] = draw(JUNK)
    else:
        holder.append(draw(JUNK))
    return record


def alike(value: Any, draw: st.DrawFn) -> Any:
    """Another value of the same type, a little way off."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + draw(st.integers(-9, 300))
    if isinstance(value, str) and value:
        at = draw(st.integers(0, len(value) - 1))
        return value[:at] + draw(st.sampled_from("0f9c48z.\n")) + value[at + 1 :]
    return value[:-1] if isinstance(value, list) else value


@st.composite
def contents(draw: st.DrawFn, content: bytes) -> bytes:
    """Return altered content of the file: another record, a part of it, a repeated line, or deep nesting."""
    record = deepcopy(json.loads(content))
    for _ in range(draw(st.integers(0, 3))):
        record = changed(record, draw) if record and isinstance(record, dict | list) else draw(JUNK)
    text = json.dumps(record, indent=1) + "\n"
    how = draw(st.sampled_from(["as it is"] * 6 + ["cut", "twice", "deep", "byte"]))
    at = draw(st.integers(0, len(text)))
    if how == "cut":
        return text[:at].encode()
    if how == "twice":
        lines = text.splitlines(keepends=True)
        at = draw(st.integers(0, len(lines) - 1))
        return "".join([*lines[:at], lines[at].rstrip(",\n") + ",\n", *lines[at:]]).encode()
    if how == "deep":
        opening = draw(st.sampled_from(["[", '{"a":', '{"kernels":[']))
        return (text[:at] + opening * draw(st.sampled_from([10, 100_000])) + text[at:]).encode()
    return text[:at].encode() + bytes([draw(st.integers(0, 255))] * (how == "byte")) + text[at:].encode()


def verified(directory: Path) -> tuple[int, str, str]:
    """The exit status of the command, and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = commands.main(["verify", str(directory), "--time-limit", "2"])
    return status, out.getvalue(), err.getvalue()


def fuzz(directory: Path, number: int) -> None:
    """AssertionError where one of so many contents ends otherwise than in a line or the table, or takes too long."""
    path = directory / NAME
    content = path.read_bytes()

    @settings(max_examples=number, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(contents(content))
    def attempt(other: bytes) -> None:
        path.write_bytes(other)
        begun = time.monotonic()
        status, out, err = verified(directory)
        assert time.monotonic() - begun < 5
        if err:
            assert (status in (1, 2), out) == (True, "")
            assert re.fullmatch(r"setwise verify: [^\n]+\n", err)
            assert err[:-1].isprintable()
            assert len(err) < 1000
            return
        assert all(map(str.isprintable, out.splitlines()))
        assert max(map(len, out.splitlines())) < 1000
        assert (status == 0) == (other == content)
        assert status == 0 or re.search(r"\n\d+ checks?: \d+ (failed|not run)(, \d+ not run)?\n\Z", out)

    with warm("verify"):
        attempt()


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    fuzz(Path(sys.argv[1]), int(sys.argv[2]))
