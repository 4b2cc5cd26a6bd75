"""The versions of TVM that read the spellings of a text.

The table of spellings is :mod:`rlx.grammar.dialects`, from which the printer writes, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rlx.grammar.diagnostic import Diagnostic, Edit, Label
from rlx.grammar.dialects import (
    CPUS,
    DEFAULT,
    EXTERN,
    LOST_WORDS,
    NEW_OPERATORS,
    READERS,
    SLICE,
    TIR_MODULES,
    UNSPOKEN,
    VERSIONS,
    Readers,
    spelling,
)
from rlx.grammar.lines import with_decorators
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Record, Span, walk
from rlx.grammar.read.forms import ALIASES
from rlx.grammar.read.kept_text import KeptName, kept_names
from rlx.grammar.read.lexer import words_of
from rlx.grammar.read.outline import logical_lines
from rlx.grammar.read.python_syntax import names_within
from rlx.grammar.read.source_tokens import long_strings

_LAST_WORDS = [
    word.replace(".", r"\s*\.\s*") + (rf"\s*\{sign}" if sign in ("=", "[") else r"\b")
    for form in READERS
    if "…" not in form
    for word, sign in re.findall(r"((?:\bnn\.)?\w+)([=\[]?)[^\w.]*$", form.partition('["')[0])
]
_LAST_WORDS.append(r"Prim\b")  # which may have its keyword left out
_LAST_WORDS.append(r"call_tir\(\s*[\"']")
_LAST_WORD = re.compile(rf"\b(?:{'|'.join(_LAST_WORDS)})")
"""The last word of a spelling that not all versions read; most lines have none."""
_NEAR = 200
"""How far in front of a keyword its form is looked for: the whole text would be copied each time."""

PURITY = "0.16"
"""The first version with a dialect in which functions declare their purity."""


class SpellingUse(Record):
    """A spelling that not all versions read, where a text has it."""

    form: str
    span: Span
    readers: Readers


def uses(text: str, modules: Sequence[ast.IRModule]) -> list[SpellingUse]:
    """The spellings of a text that not all versions read, in order."""
    spans = [with_decorators(text, m.span) for m in modules if m.span is not None]
    found = [*_imports(text)]
    for start, end in spans:
        found += _words(text, (start, end))
    found += _declarations(text, spans)
    prims = (f for m in modules for f in m.prim_funcs.values())
    loads = (load for prim in prims for load in tir.sliced_values(prim))
    found += (SpellingUse(SLICE, load.span, READERS[SLICE]) for load in loads if load.span)
    return sorted(found, key=lambda use: use.span)


def _words(text: str, span: Span) -> Iterator[SpellingUse]:
    """The names and keywords of a definition."""
    for kept in _names_with_their_last_word(text, span):
        head, dot, rest = kept.name.partition(".")
        name = ALIASES.get(head, head) + dot + rest
        names = [name, name + kept.after]
        before = text[max(0, kept.span[0] - _NEAR) : kept.span[0]] if kept.after == "=" else ""
        if before.rstrip().endswith("R.Prim("):
            names.append(f"R.Prim({name}=")
        elif head not in "RTI":
            names += [f".{part}" for part in rest.split(".")]
        for form in names:
            if form in READERS:
                yield SpellingUse(form, kept.span, READERS[form])
        if name == "R.Prim" and _PRIM_VALUE.match(text, kept.span[0]):
            yield SpellingUse("R.Prim(value=", kept.span, READERS["R.Prim(value="])
        if name == "R.call_tir" and _EXTERN.match(text, kept.span[0]):
            yield SpellingUse(EXTERN, kept.span, READERS[EXTERN])
        if name == "metadata":
            yield from _constant(text, kept.span)


def _names_with_their_last_word(text: str, span: Span) -> Iterator[KeptName]:
    """The names in lines that have the last word of a spelling outside strings of several lines."""
    strings = long_strings(text) if _has_long_string(text, span) else ()
    done = span[0]
    for found in _LAST_WORD.finditer(text, *span):
        at = found.start()
        if at < done or any(start < at < end for start, end in strings):
            continue
        start = max(done, text.rfind("\n", 0, at) + 1)
        start = max([start, *(end for first, end in strings if first < start < end)])
        done = _line_end(text, at, span[1])
        names = [*kept_names(text, start, done)]
        if names and not names[-1].after:  # the sign behind it may stand on the next line
            longer = kept_names(text, start, _line_end(text, done, span[1]))
            names = [name for name in longer if name.span[0] < done]
        yield from names


def _has_long_string(text: str, span: Span) -> bool:
    """Whether a string may span several lines: otherwise what is in front, as weights, is not read."""
    return any(text.find(sign, *span) >= 0 for sign in ('"""', "'''", "\\\n"))


def _line_end(text: str, at: int, last: int) -> int:
    """Behind the line of a place."""
    return text.find("\n", at, last) + 1 or last


_PRIM_VALUE = re.compile(r"R\.Prim\(\s*[\"'][^\"']*[\"']\s*,\s*(?!value\b|dtype\b|\))")
"""A type and, behind it, the value of a scalar, without its keyword."""


_EXTERN = re.compile(r"\w+\.call_tir\(\s*[\"']")


def _constant(text: str, span: Span) -> Iterator[SpellingUse]:
    """The key of a constant outside the text."""
    for form, readers in READERS.items():
        if form.startswith("metadata[") and text.startswith(form, span[0]):
            yield SpellingUse(form, (span[0], span[0] + len(form) + 1), readers)


def _imports(text: str) -> Iterator[SpellingUse]:
    """The modules that a text imports as ``T``."""
    if "tvm.script" not in text:
        return
    for span in logical_lines(text):
        if not text.startswith("from", span[0]):
            continue
        words = [*words_of(text, span)]
        if [word.value for word in words[:3]] != ["from", "tvm.script", "import"]:
            continue
        for word in words[3:]:
            form = f"import {word.value}"
            if word.value in TIR_MODULES and form in READERS:
                yield SpellingUse(form, word.span, READERS[form])


def _declarations(text: str, read: Sequence[Span]) -> Iterator[SpellingUse]:
    """The shape variables that are declared beside the definitions."""
    if "TypeVar(" not in text or not read:
        return
    for start, end in logical_lines(text):
        if any(first <= start < last for first, last in read):
            continue
        for word in words_of(text, (start, end)):
            if word.value == "TypeVar(":
                yield SpellingUse(word.value, (word.start, word.end - 1), READERS[word.value])
                break


def spelling_mistakes(
    text: str, modules: Sequence[ast.IRModule], found: Sequence[SpellingUse], target: str | None
) -> Iterator[Diagnostic]:
    """The mistakes in the spellings of a text for a target, or among themselves."""
    return mixed(found) if target is None else for_target(text, modules, found, target)


# ------------------------------------------------------------ one version


def for_target(
    text: str, modules: Sequence[ast.IRModule], found: Sequence[SpellingUse], target: str
) -> Iterator[Diagnostic]:
    """The errors of a text that is meant for one version."""
    told = set()
    for use in found:
        if not use.readers.reads(target) and use.span not in told:
            told.add(use.span)
            yield _unread(text, use, target)
    for call, why, help in missing_operators(modules, target):
        yield Diagnostic("VERSION-operator", "error", f"TVM {target} {why}", call.span, help=help)
    if VERSIONS.index(target) >= VERSIONS.index(DEFAULT):  # of others, it was not tried
        yield from _meshes(modules, target)
        yield from _wildcards(text, modules, target)
    yield from lost_words(text, modules, target)


_LOST_WORD = re.compile(rf"\bT\s*\.\s*(?:{'|'.join(sorted(LOST_WORDS))})\b")


def lost_words(text: str, modules: Sequence[ast.IRModule], target: str) -> Iterator[Diagnostic]:
    """The words of PrimFuncs that a version has no more; of earlier ones than 0.27, none is known."""
    for module in modules if VERSIONS.index(target) >= VERSIONS.index(DEFAULT) else ():
        for function in module.functions.values():
            if function.span is None or _LOST_WORD.search(text, *function.span) is None:
                continue
            for kept in kept_names(text, *function.span):
                head, _, rest = kept.name.partition(".")
                if ALIASES.get(head, head) == "T" and rest.partition(".")[0] in LOST_WORDS:
                    words = f"TVM {target} has no {kept.name}"
                    yield Diagnostic("VERSION-spelling", "error", words, kept.span)


_WILDCARD = re.compile(r"(?<![\w.])_(?!\w)")


def _wildcards(text: str, modules: Sequence[ast.IRModule], target: str) -> Iterator[Diagnostic]:
    """Each `_` that an annotation has for what is unknown: a shape, a dimension, a data type."""
    for module in modules:
        for function in module.functions.values():
            if function.span is None or _WILDCARD.search(text, *function.span) is None:
                continue
            for span in names_within(text, function.span, "_", ("Tensor", "DTensor", "Shape")):
                words = f"TVM {target} does not read `_` for what is unknown"
                help = "leave it out, or name the dimension: `R.Tensor(ndim=2)` has unknown ones"
                yield Diagnostic("VERSION-spelling", "error", words, span, help=help)


def _meshes(modules: Sequence[ast.IRModule], target: str) -> Iterator[Diagnostic]:
    """The calls that name a device mesh that their module does not declare."""
    for module in modules:
        for call in walk(module):
            if isinstance(call, ast.Call) and call.op_name in _ON_MESHES:
                mesh = _text(call, 1, "device_mesh")
                if mesh and not _declares(module, mesh):
                    words = f'TVM {target} finds no device mesh "{mesh}" in the module'
                    help = 'declare it: I.module_global_infos({"mesh": [R.device_mesh(…)]})'
                    yield Diagnostic("VERSION-operator", "error", words, call.span, help=help)


def missing_operators(
    modules: Sequence[ast.IRModule], version: str
) -> Iterator[tuple[ast.Call, str, str]]:
    """The calls of operators that a version does not have or read, with the reason, and what to do."""
    for module in modules:
        for node in walk(module):
            if isinstance(node, ast.Call) and isinstance(node.op, ast.Op):
                for why, help in _missing(node, node.op.op_name, VERSIONS.index(version)):
                    yield node, why, help


def _missing(call: ast.Call, name: str, at: int) -> Iterator[tuple[str, str]]:
    shown, since = f"R.{name.removeprefix('relax.')}", NEW_OPERATORS.get(name)
    other = "set the target to {} version, or compute it with other operators"
    if since is not None and VERSIONS.index(since) > at:
        yield f"has no operator {shown}, which came with {since}", other.format("a later")
    for start, since in UNSPOKEN.items():
        if name.startswith(start) and VERSIONS.index(since) <= at:
            why = f"has no word for {shown}: its parser does not know it"
            yield why, other.format("an earlier")
    device = _device(call)
    if device in CPUS and VERSIONS.index(CPUS[device]) <= at:
        yield f'knows no device "{device}"', 'write "cpu"'
    local = name == "relax.dist.call_tir_local_view" and at >= VERSIONS.index(DEFAULT)
    if local and any(getattr(info, "distribution", True) is None for info in call.sinfo_args):
        yield f"takes only R.DTensor as the result of {shown}", "say how the result is distributed"


_ON_MESHES = frozenset(["relax.dist.annotate_sharding", "relax.dist.redistribute"])


def _declares(module: ast.IRModule, name: str) -> bool:
    """Whether a module has what a text such as `mesh[0]` names."""
    kind, _, index = name.rstrip("]").partition("[")
    return index.isdecimal() and int(index) < len(module.global_infos.get(kind, ()))


def _device(call: ast.Call) -> str:
    """The kind of device that `R.device("cuda", 0)` or a hint names; empty if it is no text."""
    match call.op_name:
        case "relax.device":
            return _text(call, 0, "device_type").partition(":")[0]
        case "relax.hint_on_device":
            return _text(call, 1, "dst_vdevice").partition(":")[0]
    return ""


def _text(call: ast.Call, at: int, name: str) -> str:
    """An argument that is a text; empty if it is none."""
    given = [*call.args[at:], call.attrs.get(name)][0]
    text = given.value if isinstance(given, tir.StringImm | ast.StringImm) else given
    return text if isinstance(text, str) else ""


def _unread(text: str, use: SpellingUse, target: str) -> Diagnostic:
    right = spelling(use.form, target)
    words = f"TVM {target} does not read `{_shown(use.form)}`, which {_when(use.readers)}"
    edit = None
    written = text[slice(*use.span)]
    old, new = (form.rstrip("=").removeprefix("import ") for form in (use.form, right))
    if right and old == written and new.replace(".", "").isidentifier():
        edit = Edit(use.span, new)
    help = f"write `{_shown(right)}`" if right else _WITHOUT.get(use.form, "remove it")
    return Diagnostic("VERSION-spelling", "error", words, use.span, help=help, edit=edit)


def _when(readers: Readers) -> str:
    """The versions of TVM that have a spelling."""
    if readers.last is None:
        return f"TVM has read since {readers.first}"
    if readers.first is None:
        return f"TVM read up to {readers.last}"
    return f"TVM read from {readers.first} to {readers.last}"


_WITHOUT = {
    "tir_vars=": "pass the scalars in the tuple of arguments",
    "R.Prim(value=": 'write `R.Prim("int64")`, and the value where it is used',
    "TypeVar(": "declare it in the function: `n = T.int64()`",
    "T.let[": "annotate the variable with its type alone",
    "T.allocate_const": "pass the constant as a parameter",
    SLICE: "write the indices as a vector: `A[T.Ramp(0, 1, 4)]`",
    EXTERN: 'write `R.call_dps_packed("…", …)`',
}
"""The help where a version has no such word."""


def _shown(form: str) -> str:
    """A spelling as a reader knows it."""
    if form.startswith("metadata["):
        return f"{form}]"
    ends = {"(": "…)", "[": "…]"}
    return form.removeprefix("import ") + ends.get(form[-1], "")


# ------------------------------------------------------------ no version


def mixed(found: Sequence[SpellingUse]) -> Iterator[Diagnostic]:
    """A warning if no version reads all spellings of a text.

    Texts of 2022 may have words that came up to the first dialect: theirs changed from week to
    week. `R.Prim(value=` says nothing: rlx itself writes it for a known scalar, for which newer
    versions have no word.
    """
    found = [use for use in found if use.form != "R.Prim(value="]
    later = (use for use in found if use.readers.first != PURITY)
    newest = max(later, key=lambda use: _first(use.readers), default=None)
    oldest = min(found, key=lambda use: _last(use.readers), default=None)
    if newest is None or oldest is None or _first(newest.readers) <= _last(oldest.readers):
        return
    first, second = sorted((newest, oldest), key=lambda use: use.span)
    words = [f"`{_shown(each.form)}` ({each.readers.words()})" for each in (second, first)]
    yield Diagnostic(
        "VERSION-mixed",
        "warning",
        f"no version of TVM reads both {words[0]} and {words[1]}",
        second.span,
        related=(Label(first.span, first.readers.words()),),
        help="use the words of one version: `rlx fmt --dialect VERSION` rewrites a text",
    )


def _first(readers: Readers) -> int:
    return VERSIONS.index(readers.first or VERSIONS[0])


def _last(readers: Readers) -> int:
    return VERSIONS.index(readers.last) if readers.last is not None else len(VERSIONS)


def before_purity(found: Sequence[SpellingUse], target: str | None) -> SpellingUse | None:
    """The spelling that shows that a text is from before purity existed; None if nothing does."""
    if target is not None:
        return None
    limit = VERSIONS.index(PURITY)
    if any(_first(use.readers) >= limit for use in found):
        return None
    return next((use for use in found if _last(use.readers) < limit), None)


def newest(found: Sequence[SpellingUse]) -> str:
    """The newest version that reads each of the spellings, as far as one does."""
    last = min((_last(use.readers) for use in found), default=len(VERSIONS))
    return VERSIONS[min(last, len(VERSIONS) - 1)]


SINCE_THEN = frozenset({"PARSE-cast-annotation", "PARSE-returns", "PARSE-unbound", "WF01-type"})
"""Warnings of what TVM has refused since it has the present syntax."""


def is_old(found: Sequence[SpellingUse]) -> bool:
    """Whether a text has a spelling that only versions before purity read."""
    return any(_last(use.readers) < VERSIONS.index(PURITY) for use in found)


def unpurified(found: Sequence[Diagnostic], shown: SpellingUse) -> Iterator[Diagnostic]:
    """The diagnostics without those about purity, of which a note at the first place says why."""
    first = None
    for each in found:
        if each.code != "D14-impure":
            yield each
        elif first is None:
            first = each
    if first is not None:
        form = _shown(shown.form)
        yield Diagnostic(
            "VERSION-inferred",
            "note",
            f"purity is not checked: `{form}` is from {VERSIONS[0]}, before functions had a purity",
            first.span,
            related=(Label(shown.span, shown.readers.words()),),
            help=f"`--target {DEFAULT}` checks it",
        )
