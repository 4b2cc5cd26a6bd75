"""Finds an operator's declaration by its name, importing only the family that it stands in."""

from __future__ import annotations

from importlib import import_module

from rlx.grammar.suggest import LIMIT
from rlx.operators.declare import Operator, declared
from rlx.operators.families import FAMILIES

_HOME = {f"relax.{name}": family for family, names in FAMILIES.items() for name in names.split()}
_found: dict[str, Operator | None] = {}
_allowed: list[str] = []
_BUILDER = """
    emit emit_te emit_match_cast emit_var_binding emit_with_sinfo emit_with_ty emit_with_type arg func_name
    func_ret_struct_info func_ret_ty func_ret_type func_ret_value If Then Else SeqExpr TupleGetItem rewriter
    dist.call_tir dist.const dist.device_mesh cpu cuda rocm metal opencl vulkan vpi hexagon webgpu ext_dev
"""
_SCRIPT_FUNCTIONS = frozenset(_BUILDER.split())
"""Functions of the script's own builder, which a text may call and which are no operators."""


def every_name() -> list[str]:
    """The names of all operators of Relax, without the leading ``relax.``."""
    return [name.removeprefix("relax.") for name in _HOME]


def lookup(name: str) -> Operator | None:
    """The operator of that full name (``relax.nn.relu``), None if there is no such operator."""
    try:
        return _found[name]
    except KeyError:
        found = _found[name] = _import(name)
        return found


def _import(name: str) -> Operator | None:
    family = _HOME.get(name)
    if family is not None:
        import_module(f"rlx.operators.{family}")
    return declared.get(name)


def is_known(name: str) -> bool:
    """Whether calls of an operator that has no declaration are legal: the parser's own functions,
    and what is allowed.
    """
    from fnmatch import fnmatchcase

    short = name.removeprefix("relax.")
    return short in _SCRIPT_FUNCTIONS or any(fnmatchcase(short, each) for each in _allowed)


def is_built_in(name: str) -> bool:
    """Whether Relax has an operator of that full name."""
    return name in _HOME


def forget(name: str) -> None:
    """Look an operator up anew: a declaration of it comes."""
    _found.pop(name, None)


def allow(pattern: str) -> None:
    """Let calls of undeclared operators pass whose name (without ``relax.``) a pattern such as
    ``my.*`` describes.
    """
    short = pattern.removeprefix("relax.").removeprefix("R.")
    if short not in _allowed:
        _allowed.append(short)


def similar(name: str) -> list[str]:
    """The words, as texts write them, that an unknown operator's name may have been meant for; best
    first.
    """
    from rlx.grammar.forms import FORMS, PROTOTYPE_OPERATORS
    from rlx.grammar.suggest import closest, distance
    from rlx.operators.foreign_names import own_name

    short = name.removeprefix("relax.")
    words = dict.fromkeys(head.removeprefix("relax.") for head in (*_HOME, *declared))
    words |= dict.fromkeys(
        head[2:] for head in FORMS if head.startswith("R.") and head[2].islower()
    )
    words |= dict.fromkeys(PROTOTYPE_OPERATORS)
    foreign = own_name(short)
    if foreign is not None:
        near = [word for word in closest(short, words) if word != foreign]
        return [f"R.{foreign}", *(f"R.{word}" for word in near if distance(short, word, 1) <= 1)]
    last = short.rpartition(".")[2]
    elsewhere = [word for word in words if word.rpartition(".")[2] == last]
    if elsewhere:
        return [f"R.{word}" for word in elsewhere[:LIMIT]]
    found = closest(short, words)
    if not found:
        alone: dict[str, list[str]] = {}
        for word in words:
            alone.setdefault(word.rpartition(".")[2], []).append(word)
        found = [word for near in closest(last, alone) for word in alone[near]]
    return [f"R.{word}" for word in found[:LIMIT]]
