"""The virtual devices that a module declares."""

from __future__ import annotations

from collections.abc import Iterable

from rlx.grammar.nodes import ast


def declared(module: ast.IRModule) -> tuple[tuple[str, int], ...]:
    """The devices of a module in order: the kind of the target, and the index among the devices of
    this kind.

    Annotations refer to devices this way; lowered code uses the index in this list.
    """
    return tuple(machines(module))


def machines(module: ast.IRModule) -> dict[tuple[str, int], int]:
    """The devices of a module, each with the number of the machine: devices of one kind and number
    are memory scopes of one machine.
    """
    counts: dict[str, int] = {}
    found = {}
    for item in module.global_infos.get("vdevice", ()):
        kind = _kind(item)
        number = item[2] if isinstance(item, tuple) and len(item) > 2 else 0
        found[kind, counts.get(kind, 0)] = number if isinstance(number, int) else 0
        counts[kind] = counts.get(kind, 0) + 1
    return found


def _kind(item: object) -> str:
    match item:
        case ast.VDevice(target=target):
            return target
        case (_, dict() as target, *_):
            return str(target.get("kind", ""))
        case (_, str() as target, *_):
            return kind_of(target)
    return ""


def kind_of(target: str) -> str:
    """The kind of a target, the first word of its text."""
    return target.split()[0] if target.split() else ""


NUMBERS = {
    "llvm": 1,
    "c": 1,
    "cuda": 2,
    "nvptx": 2,
    "opencl": 4,
    "vulkan": 7,
    "metal": 8,
    "vpi": 9,
    "rocm": 10,
    "ext_dev": 12,
    "webgpu": 15,
    "hexagon": 16,
}
"""The type number in `R.device(type, index)` for each kind of target."""

SHORT = {
    "cpu": 1,
    **{name: number for name, number in NUMBERS.items() if name not in ("llvm", "c")},
}
"""Their short forms in texts: `R.cpu(0)` is `R.device(1, 0)`."""


def numbered(devices: Iterable[tuple[str, int]], number: int, index: int) -> tuple[str, int] | None:
    """The device of a module with this type number and index; None if there is none."""
    return next((d for d in devices if NUMBERS.get(d[0]) == number and d[1] == index), None)
