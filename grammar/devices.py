"""The virtual devices that a module declares."""

from __future__ import annotations

from rlx.grammar import ast


def declared(module: ast.IRModule) -> tuple[tuple[str, int], ...]:
    """The devices of a module in its order: the kind of the target, and the number among those of that kind.

    Annotations name devices so; code after lowering names them by their place in this list.
    """
    counts: dict[str, int] = {}
    found = []
    for item in module.global_infos.get("vdevice", ()):
        kind = _kind(item)
        found.append((kind, counts.get(kind, 0)))
        counts[kind] = counts.get(kind, 0) + 1
    return tuple(found)


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
