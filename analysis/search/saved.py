"""What a search keeps in a file, so that it goes on another time. Its schema is the classes below."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from setwise.analysis.code.decode import Binary, DecodeError, decode
from setwise.analysis.search.hunt import Hunt
from setwise.analysis.search.search import Finding, Tally
from setwise.analysis.search.spare import Spare
from setwise.codegen.files import NotRegularError, put, regular_content

_EDITION = 1
_MOST_BYTES = 1 << 26

Number = Annotated[int, Meta(ge=0, lt=1 << 48)]
Seconds = Annotated[float, Meta(ge=0, lt=1e12)]
Text = Annotated[str, Meta(pattern=r"\A[ -~]*\Z", max_length=1 << 12)]
Level = Annotated[str, Meta(pattern=r"\A[a-d]\Z")]
Hex = Annotated[str, Meta(pattern=r"\A(?:[0-9a-f]{2})*\Z", max_length=1 << 18)]
Word = Annotated[str, Meta(pattern=r"\A[0-9a-f]{1,16}\Z")]
Digest = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]


class SavedError(ValueError):
    """A file that no search goes on from; the message is one line."""


class TallyRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """What a level tried: so many of all places; candidates, and what became of them; seconds of a processor."""

    places: Number
    all_places: Number
    candidates: Number
    fitting: Number
    no_shorter: Number
    refuted: Number
    undecided: Number
    seconds: Seconds


class CodeRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """Code with its data, in hexadecimal."""

    text: Hex
    data: Hex
    data_offset: Number


class FindingRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """Shorter code that was found: the level, what was exchanged, how many instructions before and after."""

    level: Level
    said: Text
    before: Number
    after: Number
    code: CodeRecord


class SpareRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """Bits of a constant that do not matter, in hexadecimal as the constant is: lane by lane."""

    words: list[Word]
    bits: list[Word]


class HuntRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """The search of one subject; `original` is the SHA-256 of the code and data that it began with."""

    title: Text
    original: Digest
    findings: list[FindingRecord]
    tallies: dict[Level, TallyRecord]
    looked: dict[Level, list[Number]]
    spare: list[SpareRecord]


class Saved(Struct, frozen=True, forbid_unknown_fields=True):
    """What searches of one command have tried and found."""

    edition: Number
    hunts: list[HuntRecord]


def save(path: str, hunts: Sequence[tuple[str, Hunt]]) -> None:
    """Write hunts by their titles; the file is whole at every moment. SavedError where it cannot be written."""
    saved = Saved(_EDITION, [_record(title, hunt) for title, hunt in hunts])
    try:
        put(path, f"{json.dumps(msgspec.to_builtins(saved), indent=1)}\n".encode())
    except OSError as error:
        raise SavedError(f"--save {path}: {(error.strerror or str(error)).lower()}") from None


def resume(path: str, hunts: Sequence[tuple[str, Hunt]]) -> None:
    """Let hunts go on where a file says that they were; nothing where there is no file yet.

    What the file calls code is taken for nothing but that: whoever reports it proves it. SavedError for a file that is
    none of ours, and for one about other code.
    """
    try:
        content = regular_content(path, _MOST_BYTES, links=True)
    except FileNotFoundError:
        return
    except (NotRegularError, OSError) as error:
        raise SavedError(f"--save {path}: {str(getattr(error, 'strerror', None) or error).lower()}") from None
    if len(content) > _MOST_BYTES:
        raise SavedError(f"--save {path}: larger than what a search keeps: give another file")
    try:
        saved = msgspec.json.decode(content, type=Saved)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SavedError(f"--save {path}: not what a search keeps ({error}): give another file") from None
    if saved.edition != _EDITION:
        raise SavedError(f"--save {path}: another version of setwise wrote it: give another file")
    known = {record.title: record for record in saved.hunts}
    for title, hunt in hunts:
        record = known.get(title)
        if record is None:
            continue
        if record.original != hunt.original.image_sha256:
            raise SavedError(f"--save {path}: {title} was other code then: give another file")
        _go_on(path, hunt, record)


def _go_on(path: str, hunt: Hunt, record: HuntRecord) -> None:
    for found in record.findings:
        code = found.code
        text, data = bytes.fromhex(code.text), bytes.fromhex(code.data)
        try:
            end = decode(text)[-1].end
        except (DecodeError, IndexError):
            end = -1
        if end != len(text) or not (code.data_offset == 0 or len(text) <= code.data_offset <= len(text) + 64):
            raise SavedError(f"--save {path}: not what a search keeps (no code): give another file")
        binary = Binary(text, data, code.data_offset)
        hunt.findings.append(Finding(found.level, found.said, found.before, found.after, binary))
        hunt.binary = binary
    hunt.tallies = {level: Tally(**msgspec.structs.asdict(tally)) for level, tally in record.tallies.items()}
    hunt.spare = [
        Spare(tuple(int(word, 16) for word in spare.words), tuple(int(bits, 16) for bits in spare.bits))
        for spare in record.spare
        if len(spare.words) == len(spare.bits)
    ]
    hunt.looked = {level: set(at) for level, at in record.looked.items()}


def _record(title: str, hunt: Hunt) -> HuntRecord:
    findings = [
        FindingRecord(
            found.level,
            found.said,
            found.before,
            found.after,
            CodeRecord(found.binary.text.hex(), found.binary.data.hex(), found.binary.data_offset),
        )
        for found in hunt.findings
    ]
    tallies = {level: TallyRecord(**vars(tally)) for level, tally in hunt.tallies.items()}
    spare = [SpareRecord([f"{w:x}" for w in s.words], [f"{b:x}" for b in s.bits]) for s in hunt.spare]
    looked = {level: sorted(at) for level, at in hunt.looked.items()}
    return HuntRecord(title, hunt.original.image_sha256, findings, tallies, looked, spare)
