"""Writer of static libraries in the ar format, with the symbol tables of GNU ar and, for COFF, of Microsoft's lib."""

import struct
from collections.abc import Mapping, Sequence


def archive(members: Mapping[str, bytes], symbols: Mapping[str, Sequence[str]], microsoft: bool = False) -> bytes:
    """Return the bytes of a library of object files. By file name `members` gives contents, `symbols` global symbols.

    With `microsoft` a second, sorted symbol table follows, as Microsoft's linker expects. Times, owners and modes are
    fixed.
    """
    names = b""
    fields = {}
    for name in members:
        fields[name] = f"/{len(names)}".encode()
        names += name.encode() + (b"\0" if microsoft else b"/\n")
    names += b"\n" * (len(names) % 2)
    listed = [(symbol, member) for member in members for symbol in symbols[member]]
    texts = b"".join(symbol.encode() + b"\0" for symbol, _ in listed)
    first_size = 4 + 4 * len(listed) + len(texts)
    second_size = 8 + 4 * len(members) + 2 * len(listed) + len(texts)
    place = 8 + _padded(first_size) + (_padded(second_size) if microsoft else 0) + _padded(len(names))
    starts = {}
    for name, content in members.items():
        starts[name] = place
        place += _padded(len(content))
    offsets = b"".join(struct.pack(">I", starts[member]) for _, member in listed)
    block = b"!<arch>\n" + _member(b"/", struct.pack(">I", len(listed)) + offsets + texts)
    if microsoft:
        numbers = {name: number for number, name in enumerate(members, 1)}
        ordered = sorted(listed)
        second = struct.pack("<I", len(members)) + b"".join(struct.pack("<I", starts[name]) for name in members)
        second += struct.pack("<I", len(ordered)) + b"".join(struct.pack("<H", numbers[name]) for _, name in ordered)
        block += _member(b"/", second + b"".join(symbol.encode() + b"\0" for symbol, _ in ordered))
    block += _member(b"//", names)
    for name, content in members.items():
        block += _member(fields[name], content)
    return block


def _member(name: bytes, content: bytes) -> bytes:
    head = b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name, 0, 0, 0, b"644", len(content))
    return head + content + b"\n" * (len(content) % 2)


def _padded(size: int) -> int:
    """Return the size of a member of `size` bytes with its header and padding."""
    return 60 + size + size % 2
