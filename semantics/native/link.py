"""Shared libraries made of one object file, for 64-bit x86 and glibc, without the linker.

The linker takes 2 ms to start, and 2 more to read the mathematical libraries: together a sixth of
the time of a small kernel. A kernel needs little of it: one object file, no data that is written
to, and a few functions of libraries. :func:`library` makes of that what the linker would, and
leaves everything else to the linker.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from rlx.semantics.native import object_file as elf
from rlx.semantics.native.interface import ffi
from rlx.semantics.native.object_file import Symbol

_PROVIDERS = {"-lmvec": "libmvec.so.1", "-lm": "libm.so.6"}
"""The libraries that can be linked with, by the words of the compiler's command."""
_WITHOUT = frozenset(["-nostdlib", "-lgcc"])
"""Words without which nothing is linked: functions of libgcc are left to the linker."""
_LOADED = frozenset(["memcpy", "memmove", "memset", "memcmp"])
"""Functions of the C library, which each process has loaded."""

_PAGE = 4096
_HEADERS = 64 + 6 * 56
_PC32, _PLT32, _GOT = 2, 4, frozenset([9, 41, 42])
_GLOB_DAT, _RELATIVE = 6, 8
_STUB = 8
_FIRST_VERSION = 2


class _Unfit(Exception):
    """What only the linker can do."""


def library(file: bytes, words: Collection[str]) -> bytes | None:
    """The shared library that the linker would make of an object file; None to leave it to the
    linker.

    Parameters
    ----------
    file
        An object file.
    words
        What it is linked with: words of the compiler's command.
    """
    try:
        if not set(words) >= _WITHOUT:
            return None
        sonames = [_PROVIDERS[word] for word in words if word not in _WITHOUT]
        return _Placement(file, sonames).image()
    except (_Unfit, LookupError, ValueError, OSError, struct.error, OverflowError):
        return None


class _Import(NamedTuple):
    """A function of a library, its version, and the library; "" for one that is loaded."""

    name: str
    version: str
    soname: str


class _Placement:
    """Where everything is in the library: at the same places in the file and in memory."""

    def __init__(self, file: bytes, sonames: Sequence[str]) -> None:
        self._file = file
        self._sections = elf.sections(file, 1)
        [table] = [s for s in self._sections if s.kind == elf.SYMTAB]
        self._symbols = elf.symbols(file, table, self._sections[table.link])
        self._tables = [
            (section.info, elf.relocations(file, section))
            for section in self._sections
            if section.kind == elf.RELA and self._sections[section.info].flags & elf.ALLOCATED
        ]
        constant, code = self._kept()
        used = sorted({entry.symbol for _, table in self._tables for entry in table})
        missing = [at for at in used if not self._symbols[at].section]
        imports = [_provider(self._symbols[at].name, sonames) for at in missing]
        exported = [s for s in self._symbols if s.section and not s.local and s.visible]
        slots = self._slots(missing)
        self._dynamic = _Dynamic(imports, exported, len(slots))
        self._place = self._placed(_HEADERS + self._dynamic.size, constant)
        self._constants = self._end
        begin = _round(self._end, _PAGE)
        self._place |= self._placed(begin, code)
        self._stubs = {at: _round(self._end, _STUB) + _STUB * k for k, at in enumerate(missing)}
        self._code = (begin, _round(self._end, _STUB) + _STUB * len(missing) - begin)
        self._table = _round(sum(self._code), _PAGE)
        got = self._table + self._dynamic.table_size
        self._got = {at: got + 8 * k for k, at in enumerate(slots)}
        self._total = got + 8 * len(slots)

    def _kept(self) -> tuple[list[int], list[int]]:
        """The sections that the library has: what is constant, and code."""
        constant: list[int] = []
        code: list[int] = []
        for at, section in enumerate(self._sections):
            if section.name == ".note.GNU-stack" and section.flags & elf.EXECUTABLE:
                raise _Unfit(section.name)
            if not section.flags & elf.ALLOCATED or not section.size or section.kind == elf.NOTE:
                continue
            if section.kind != elf.PROGBITS or section.name == ".eh_frame":
                raise _Unfit(section.name)
            if section.flags & ~0x36 or section.align > _PAGE:
                # but allocated, executable, and what may be merged
                raise _Unfit(section.name)
            (code if section.flags & elf.EXECUTABLE else constant).append(at)
        return constant, code

    def _slots(self, missing: Sequence[int]) -> list[int]:
        """The symbols whose addresses are in the table: all that are imported, and others that the
        code looks up.
        """
        looked_up = {
            entry.symbol for _, table in self._tables for entry in table if entry.kind in _GOT
        }
        return [*missing, *sorted(looked_up - {*missing})]

    def _placed(self, begin: int, chosen: Sequence[int]) -> dict[int, int]:
        """Addresses of sections, one behind the other."""
        places, self._end = {}, begin
        for at in chosen:
            section = self._sections[at]
            self._end = _round(self._end, section.align)
            places[at] = self._end
            self._end += section.size
        return places

    def _address(self, at: int) -> int:
        symbol = self._symbols[at]
        if not symbol.section:
            return self._stubs[at]
        if symbol.section not in self._place:
            raise _Unfit(symbol.name)
        return self._place[symbol.section] + symbol.value

    def image(self) -> bytes:
        """The bytes of the library."""
        made = bytearray(self._total)
        for at, place in self._place.items():
            section = self._sections[at]
            made[place : place + section.size] = self._file[
                section.offset : section.offset + section.size
            ]
        for target, table in self._tables:
            if target not in self._place:
                raise _Unfit(self._sections[target].name)
            for entry in table:
                self._relocate(made, self._place[target] + entry.offset, entry)
        for at, place in self._stubs.items():  # jmp *slot(%rip)
            struct.pack_into("<HiH", made, place, 0x25FF, self._got[at] - place - 6, 0x9066)
        addresses = [self._place.get(s.section, 0) + s.value for s in self._dynamic.exported]
        fixed = {at: self._address(at) for at in self._got if self._symbols[at].section}
        for at, address in fixed.items():
            struct.pack_into("<Q", made, self._got[at], address)
        imported = [self._got[at] for at in self._stubs]
        relative = [(self._got[at], address) for at, address in fixed.items()]
        tables = self._dynamic.tables(addresses, imported, relative)
        made[_HEADERS : _HEADERS + len(tables)] = tables
        entries = self._dynamic.entries(_HEADERS)
        made[self._table : self._table + len(entries)] = entries
        made[:_HEADERS] = self._headers()
        return bytes(made)

    def _relocate(self, made: bytearray, place: int, entry: elf.Relocation) -> None:
        """Put the distance to a symbol, or to the slot with its address, to a place."""
        if entry.kind in _GOT:
            target = self._got[entry.symbol]
        elif entry.kind == _PLT32 or (entry.kind == _PC32 and self._symbols[entry.symbol].section):
            target = self._address(entry.symbol)
        else:
            raise _Unfit(f"relocation {entry.kind}")
        struct.pack_into("<i", made, place, target + entry.addend - place)

    def _headers(self) -> bytes:
        """The file's header, and those of what is loaded: constants, code, and what the loader
        fills in.
        """
        identity = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
        head = identity + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 6, 64, 0, 0)
        code, size = self._code
        table, filled = self._table, self._total - self._table
        constants, entries = self._constants, self._dynamic.table_size
        parts = (
            (1, 4, 0, constants, constants, _PAGE),
            (1, 5, code, size, size, _PAGE),
            (1, 6, table, filled, _round(filled, _PAGE), _PAGE),
            (2, 6, table, entries, entries, 8),
            # whole pages cannot be written to once the loader has filled them in
            (0x6474E552, 4, table, filled, _round(filled, _PAGE), 1),
            (0x6474E551, 6, 0, 0, 0, 16),  # the stack is not executable
        )
        return head + b"".join(
            struct.pack("<IIQQQQQQ", kind, flags, at, at, at, size, room, align)
            for kind, flags, at, size, room, align in parts
        )


class _Dynamic:
    """What the loader reads: names of symbols, where they are, versions, relocations."""

    def __init__(self, imports: Sequence[_Import], exported: Sequence[Symbol], slots: int) -> None:
        self._imports, self.exported = imports, exported
        self._needed: dict[str, dict[str, int]] = {}
        for number, (soname, version) in enumerate(
            dict.fromkeys((i.soname, i.version) for i in imports if i.soname), _FIRST_VERSION
        ):
            self._needed.setdefault(soname, {})[version] = number
        self._strings = bytearray(b"\0")
        self._names: dict[str, int] = {}
        versions = [name for group in self._needed.values() for name in group]
        imported, own = [i.name for i in imports], [s.name for s in exported]
        for name in (*imported, *own, *self._needed, *versions):
            if name not in self._names:
                self._names[name] = len(self._strings)
                self._strings += name.encode("ascii") + b"\0"
        nowhere = [0] * len(exported), [0] * len(imports), [(0, 0)] * (slots - len(imports))
        self._starts, self.size = list[int](), 0
        for part in self._parts(*nowhere):
            self._starts.append(self.size)
            self.size = _round(self.size + len(part), 8)
        self._relocations, self.table_size = 24 * slots, 16 * (12 + len(self._needed))

    def tables(
        self,
        addresses: Sequence[int],
        imported: Sequence[int],
        relative: Sequence[tuple[int, int]],
    ) -> bytes:
        """The tables, for the addresses of what is exported, and of slots."""
        made = bytearray(self.size)
        parts = self._parts(addresses, imported, relative)
        for start, part in zip(self._starts, parts, strict=True):
            made[start : start + len(part)] = part
        return bytes(made)

    def _parts(
        self,
        addresses: Sequence[int],
        imported: Sequence[int],
        relative: Sequence[tuple[int, int]],
    ) -> tuple[bytes, ...]:
        first = 1 + len(self._imports)
        relocations = [
            *(struct.pack("<QIIq", at, _GLOB_DAT, k, 0) for k, at in enumerate(imported, 1)),
            *(struct.pack("<QIIq", at, _RELATIVE, 0, to) for at, to in relative),
        ]
        symbols = [bytes(24)]
        versions = [0]
        for each in self._imports:
            symbols.append(struct.pack("<IBBHQQ", self._names[each.name], 0x12, 0, 0, 0, 0))
            versions.append(self._needed[each.soname][each.version] if each.soname else 1)
        for symbol, address in zip(self.exported, addresses, strict=True):
            kind = 0x12 if symbol.function else 0x11
            symbols.append(struct.pack("<IBBHQQ", self._names[symbol.name], kind, 0, 1, address, 0))
            versions.append(1)
        count = len(symbols)
        own = range(first, count)  # one bucket: each is followed by the next
        chain = [*[0] * first, *(at + 1 if at + 1 < count else 0 for at in own)]
        hashes = struct.pack(f"<{3 + count}I", 1, count, first if own else 0, *chain)
        return (
            b"".join(relocations),
            b"".join(symbols),
            self._needs(),
            hashes,
            struct.pack(f"<{count}H", *versions),
            bytes(self._strings),
        )

    def _needs(self) -> bytes:
        """The versions that are needed, library by library."""
        made = b""
        for k, (soname, group) in enumerate(self._needed.items(), 1):
            following = 16 + 16 * len(group) if k < len(self._needed) else 0
            made += struct.pack("<HHIII", 1, len(group), self._names[soname], 16, following)
            for at, (version, number) in enumerate(group.items(), 1):
                behind = 16 if at < len(group) else 0
                name = self._names[version]
                made += struct.pack("<IHHII", _hash(version), 0, number, name, behind)
        return made

    def entries(self, base: int) -> bytes:
        """The table that says where the tables are."""
        relocations, symbols, needs, hashes, versions, strings = (base + s for s in self._starts)
        found = [(1, self._names[soname]) for soname in self._needed]
        found += [(4, hashes), (5, strings), (6, symbols), (10, len(self._strings)), (11, 24)]
        if self._relocations:
            found += [(7, relocations), (8, self._relocations), (9, 24)]
        if self._needed:
            found += [(0x6FFFFFF0, versions), (0x6FFFFFFE, needs), (0x6FFFFFFF, len(self._needed))]
        return b"".join(struct.pack("<QQ", *entry) for entry in found)


def _hash(name: str) -> int:
    """The hash of a version's name that the format prescribes."""
    value = 0
    for letter in name.encode("ascii"):
        value = (value << 4) + letter
        value = (value ^ ((value & 0xF0000000) >> 24)) & 0x0FFFFFFF
    return value


def _round(number: int, to: int) -> int:
    return number + -number % max(to, 1)


def _provider(name: str, sonames: Sequence[str]) -> _Import:
    """The first of the libraries that has a function."""
    for soname in sonames:
        version = _provided(soname).get(name)
        if version is not None:
            return _Import(name, version, soname)
    if name in _LOADED:
        return _Import(name, "", "")
    raise _Unfit(name)


@cache
def _provided(soname: str) -> Mapping[str, str]:
    """What a library provides: of the file that this process would load."""
    held = ffi().dlopen(soname)
    with open("/proc/self/maps", encoding="utf-8") as lines:
        paths = (Path(line.split(maxsplit=5)[-1].rstrip("\n")) for line in lines if "/" in line)
        path = next((path for path in paths if path.name == soname), None)
    del held
    if path is None:
        raise _Unfit(soname)
    return elf.default_versions(path.read_bytes())
