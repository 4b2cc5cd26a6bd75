"""An oracle of the user's own: a function of a module, named ``my_module:function`` or
``path/to/file.py:function``.

It is called with one legal :class:`rlx.IRModule` after the other. An exception that it raises is a
finding, and so is a text or False that it returns; None and True say that all is well.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from rlx.generate.campaign.finding import Finding, cause_of
from rlx.generate.campaign.finding_file import OWN
from rlx.generate.campaign.oracles.case import Case, raised
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import replace
from rlx.operators.external import imported

Own = Callable[[Any], object]


class OwnOracleError(ValueError):
    """There is no such function; the message says what was expected and what was found."""


def function_of(name: str) -> Own:
    """The function of a name.

    Raises
    ------
    OwnOracleError
        If the module cannot be imported, has no such function, or one that takes no module.
    """
    home, _, wanted = name.rpartition(":")
    if not home or not wanted:
        raise OwnOracleError(f"expected my_module:function, found {name!r}")
    try:
        module = imported(home)
    except Exception as error:
        raise OwnOracleError(f"cannot import {home!r}: {type(error).__name__}: {error}") from error
    found = getattr(module, wanted, None)
    if not callable(found):
        known = [key for key, value in vars(module).items() if callable(value)]
        near = get_close_matches(wanted, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise OwnOracleError(f"{home!r} has no function {wanted!r}{hint}")
    if not _takes_one(found):
        raise OwnOracleError(f"{wanted!r} of {home!r} cannot be called with one module")
    made: Own = found
    return made


def _takes_one(function: Own) -> bool:
    """Whether a function can be called with one argument, as far as its signature says."""
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        return False
    except ValueError:  # some built-in functions have no signature
        return True
    return True


def own(name: str) -> Callable[[Case], list[Finding]]:
    """The oracle that calls the user's function.

    Raises
    ------
    OwnOracleError
        As :func:`function_of` does.
    """
    function = function_of(name)

    def look(case: Case) -> list[Finding]:
        from rlx.grammar.read.parser import parse

        module, *_ = parse(case.text).modules
        _, _, word = name.rpartition(":")
        case.begin(word)
        try:
            said = function(module)
        except Exception as error:  # noqa: BLE001 - what it raises is what it says
            return [case.found(OWN, name, _words(error))]
        if said is None or said is True:
            return []
        if isinstance(said, str):
            return [case.found(OWN, name, said)]
        if said is False:
            return [case.found(OWN, name, "returns False")]
        return [case.found(OWN, name, f"returns {type(said).__name__}; expected None, bool or str")]

    return look


def _words(error: Exception) -> str:
    """What an exception says; where it says nothing, the line that raised it."""
    said = str(error).strip()
    if not said:
        frames = traceback.extract_tb(error.__traceback__)
        said = frames[-1].line or f"line {frames[-1].lineno}" if frames else "no message"
    return f"{type(error).__name__}: {said}"


# Legality: a program that is legal by construction is accepted.


def check(case: Case) -> list[Finding]:
    """Our checker finds no error; TVM reads the program and calls it well-formed."""
    case.begin("relax-check")
    wrong = case.error(case.text)
    if wrong:
        return _refused(case, wrong)
    if case.peer is None or not case.legal:
        return []
    case.begin("TVM's parser")
    try:
        module = case.peer.read(case.text)
    except Exception as error:  # noqa: BLE001 - whatever the peer raises is what is looked for
        return [case.found("refuses-legal", "check", raised(error))]
    case.begin("TVM's well_formed")
    why = case.peer.why_ill_formed(module)
    return [case.found("refuses-legal", "check", why)] if why else []


def _refused(case: Case, error: str) -> list[Finding]:
    """What is refused by the rules: TVM refuses it too, and no legal program is among it."""
    code, _, _ = error.partition(":")
    if case.peer is not None and _accepted(case):
        message = f"TVM's parser and well_formed accept it: {error}"
        return [case.found("accepts-illegal", "check", message, cause=code, rule=code)]
    if not case.legal:
        return []
    case.begin("relax-check")
    return [case.found("refuses-legal", "check", error, cause=code, rule=code)]


def _accepted(case: Case) -> bool:
    assert case.peer is not None
    case.begin("TVM's parser")
    try:
        module = case.peer.read(case.text)
    except Exception:  # noqa: BLE001 - however it says so, it refuses
        return False
    case.begin("TVM's well_formed")
    return case.peer.well_formed(module)


# Types: what the other side derives for each variable is compatible with the rules of derivation.


def derive(case: Case) -> list[Finding]:
    """TVM derives every type anew and prints it as an annotation; our checker compares annotations
    with values.
    """
    from rlx.grammar.print.printer import print_module
    from rlx.grammar.read.parser import parse

    case.begin("derivation")
    if case.error(case.text) or case.peer is None:
        return []
    module, *_ = parse(case.text).modules
    bare = print_module(without_annotations(module))
    case.begin("TVM's derivation")
    try:
        printed = case.peer.print(case.peer.read(bare))
    except Exception as error:  # noqa: BLE001 - whatever the peer raises is what is looked for
        return [case.found("refuses-legal", "derive", raised(error))]
    case.begin("comparison of types")
    wrong = case.error(printed)
    if not wrong or case.error(bare):
        return []
    code, _, message = wrong.partition(": ")
    return [
        case.found("wrong-type", "derive", wrong, cause=f"{code} {cause_of(message)}", rule=code)
    ]


def without_annotations(module: ast.IRModule) -> ast.IRModule:
    """The module with no annotation on any variable that is bound to a value."""
    from rlx.grammar.nodes.rewrite import rebuild
    from rlx.grammar.nodes.visit import bindings

    bound = {
        binding.var
        for binding in bindings(module)
        if isinstance(binding, ast.VarBinding) and not isinstance(binding.value, ast.Function)
    }
    made: ast.IRModule = rebuild(
        module,
        lambda node: replace(node, struct_info_annotation=None) if node in bound else node,
    )
    return made


# Printing: what is printed reads back as the same program.


def roundtrip(case: Case) -> list[Finding]:
    """Our printer and parser; TVM's, by TVM; TVM's print, by us."""
    from rlx.grammar.nodes.equal import structural_equal
    from rlx.grammar.print.printer import print_module
    from rlx.grammar.read.parser import parse

    case.begin("our round trip")
    module, *_ = parse(case.text).modules
    for dialect in ("0.27", "0.16"):
        again, *more = parse(print_module(module, dialect=dialect)).modules
        if more or not structural_equal(module, again):
            return [case.found("prints-wrong", "roundtrip", f"our own, dialect {dialect}")]
    if case.peer is None:
        return []
    case.begin("TVM's parser")
    try:
        theirs = case.peer.read(case.text)
    except Exception:  # noqa: BLE001 - the oracle of legality reports it
        return []
    case.begin("TVM's printer")
    try:
        text = case.peer.print(theirs)
    except Exception as error:  # noqa: BLE001 - whatever the peer raises is what is looked for
        return [case.found("prints-wrong", "roundtrip", raised(error))]
    return [*_by_peer(case, theirs, text), *_by_us(case, text)]


def _by_peer(case: Case, module: object, text: str) -> list[Finding]:
    assert case.peer is not None
    case.begin("TVM reads what TVM printed")
    try:
        again = case.peer.read(text)
    except Exception as error:  # noqa: BLE001 - whatever the peer raises is what is looked for
        return [case.found("prints-wrong", "roundtrip", raised(error))]
    where = case.peer.difference(module, again)
    if where:
        message = f"the module that was parsed back is not structurally equal, at {where}"
        return [case.found("prints-wrong", "roundtrip", message, cause=_what(where))]
    return []


def _what(path: str) -> str:
    """What is at the end of a path through a module."""
    _, _, end = path.rpartition("bindings[")
    for word, what in _AT.items():
        if word in end:
            return what
    return "not structurally equal"


_AT = {
    ".derive_func": "opaque function types differ",
    ".ty": "types differ",
    ".args": "another argument",
    ".value.value": "constants differ",
}


def _by_us(case: Case, text: str) -> list[Finding]:
    case.begin("we read what TVM printed")
    error = case.error(text)
    if error and not case.error(case.text):
        code, _, _ = error.partition(":")
        # What is new in the text is types that TVM derived.
        return [case.found("wrong-type", "roundtrip", error, cause=code, rule=code)]
    return []
