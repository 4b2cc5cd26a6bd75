"""Files in the format ELF, for 64-bit x86: an assembler's output, and symbols of libraries."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import NamedTuple

ALLOCATED, WRITABLE, EXECUTABLE = 2, 1, 4
PROGBITS, SYMTAB, RELA, NOTE, NOBITS, DYNSYM = 1, 2, 4, 7, 8, 11
VERSION_DEFINITIONS, VERSION_OF_SYMBOL = 0x6FFFFFFD, 0x6FFFFFFF
_MAGIC = b"\x7fELF\x02\x01\x01"
_X86_64 = 62
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QIIq")
_HIDDEN = 0x8000
"""The bit of a version's number that marks a symbol that is not the default one."""


class ObjectSection(NamedTuple):
    """A section: its name, its place in the file, and the section that it refers to."""

    name: str
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    align: int


class Symbol(NamedTuple):
    """A symbol; ``section`` is 0 if it is defined elsewhere."""

    name: str
    local: bool
    visible: bool
    section: int
    value: int
    function: bool


class Relocation(NamedTuple):
    """A place in a section that takes the address of a symbol."""

    offset: int
    kind: int
    symbol: int
    addend: int


def sections(file: bytes, kind: int) -> list[ObjectSection]:
    """The sections of a file of the given kind (1 for object files, 3 for shared libraries).

    Raises
    ------
    ValueError
        If it is another kind of file, or for another processor.
    """
    if len(file) < 64 or not file.startswith(_MAGIC):
        raise ValueError("this is no ELF file of 64 bits")
    if struct.unpack_from("<HH", file, 16) != (kind, _X86_64):
        raise ValueError("this is another kind of file, or for another processor")
    (start,) = struct.unpack_from("<Q", file, 40)
    size, count, names = struct.unpack_from("<HHH", file, 58)
    if size != _SECTION.size or not names < count or start + size * count > len(file):
        raise ValueError("the table of sections is incomplete")
    heads = list(_SECTION.iter_unpack(file[start : start + size * count]))
    base = heads[names][4]
    if any(head[1] != NOBITS and head[4] + head[5] > len(file) for head in heads):
        raise ValueError("a section is incomplete")
    return [
        ObjectSection(_name(file, base + head[0]), head[1], head[2], *head[4:9])  # not the address
        for head in heads
    ]


def symbols(file: bytes, table: ObjectSection, strings: ObjectSection) -> list[Symbol]:
    """The symbols of a table."""
    found = []
    entries = file[table.offset : table.offset + table.size]
    for name, info, other, section, value, _ in _SYMBOL.iter_unpack(entries):
        text = _name(file, strings.offset + name)
        found.append(Symbol(text, info >> 4 == 0, other & 3 == 0, section, value, info & 15 == 2))
    return found


def relocations(file: bytes, table: ObjectSection) -> list[Relocation]:
    """The entries of a table of relocations."""
    entries = file[table.offset : table.offset + table.size]
    return [Relocation(*entry) for entry in _RELOCATION.iter_unpack(entries)]


def default_versions(library: bytes) -> Mapping[str, str]:
    """For each symbol that a shared library provides, its default version; "" if it has none.

    Raises
    ------
    ValueError
        If it is no such library.
    """
    parts = sections(library, 3)
    table = next((part for part in parts if part.kind == DYNSYM), None)
    if table is None:
        raise ValueError("the library has no symbols")
    entries = library[table.offset : table.offset + table.size]
    strings = parts[table.link].offset
    names = [(entry[0], entry[3]) for entry in _SYMBOL.iter_unpack(entries)]
    numbers = next((part for part in parts if part.kind == VERSION_OF_SYMBOL), None)
    if numbers is None:
        return {_name(library, strings + name): "" for name, section in names if section}
    versions = _versions(library, parts)
    of_symbol = struct.unpack_from(f"<{len(names)}H", library, numbers.offset)
    return {
        _name(library, strings + name): versions.get(number, "")
        for (name, section), number in zip(names, of_symbol, strict=True)
        if section and not number & _HIDDEN
    }


def _versions(library: bytes, parts: list[ObjectSection]) -> dict[int, str]:
    """The names of the versions that a library defines, by their numbers."""
    found: dict[int, str] = {}
    for part in parts:
        if part.kind != VERSION_DEFINITIONS:
            continue
        at, strings = part.offset, parts[part.link].offset
        for _ in range(part.info):
            _, flags, number, _, _, auxiliary, following = struct.unpack_from(
                "<HHHHIII", library, at
            )
            (name,) = struct.unpack_from("<I", library, at + auxiliary)
            if not flags & 1:  # that is the library's own name
                found[number] = _name(library, strings + name)
            at += following
    return found


def _name(file: bytes, at: int) -> str:
    return file[at : file.index(b"\0", at)].decode("ascii")
