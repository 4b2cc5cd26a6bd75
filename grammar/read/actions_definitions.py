"""The actions of decorators, modules and the heads of functions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile
from typing import Any

from rlx.grammar.dialects import DEFAULT, dialect
from rlx.grammar.lines import lines_above
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Span, complete
from rlx.grammar.nodes.struct_infos import bind_callable
from rlx.grammar.read import misspelt
from rlx.grammar.read.actions_atoms import plain_data
from rlx.grammar.read.actions_statements import StatementActions, annotation_by_name
from rlx.grammar.read.comments import PRINTED
from rlx.grammar.read.entries import Entry, Rejected, Token
from rlx.grammar.read.forms_info import without_unknown
from rlx.grammar.read.function_bodies import FUNCTION_WORDS, PRIM_WORDS, add_function
from rlx.grammar.read.lexer import no_name
from rlx.grammar.read.partial_nodes import (
    CapturedName,
    Declared,
    Defined,
    Form,
    ModuleStatement,
    Name,
    Open,
    Signature,
    describe,
    flatten,
    open_scope,
)
from rlx.grammar.read.prim_buffers import PrimBuffers
from rlx.grammar.read.prototype import is_prototype
from rlx.grammar.read.reports import ReadContext
from rlx.grammar.read.scope import Frame
from rlx.grammar.suggest import closest, did_you_mean

_FLAGS = {
    "module": {"check_well_formed", "s_tir", "metadata"},
    "function": {"check_well_formed", "private", "pure"},
    "prim_func": {"check_well_formed", "private", "s_tir", "persistent", "is_stir"},
}
"""The arguments of the decorators of each kind of definition."""
_MODULE_WORDS = {"I.ir_module", "tvm.script.ir_module", "ir_module", "script.ir_module"}
_LETTERS = {"R": "relax", "T": dialect(DEFAULT).tir_module, "I": "ir"}
_IMPORTS = re.compile(r"^(?:from[ \t]+tvm\b[^\n]*|import[ \t]+tvm\b)(?<!\*)$", re.MULTILINE)
_MARKS = _MODULE_WORDS | FUNCTION_WORDS | PRIM_WORDS


class DefinitionActions:
    """Actions of definitions.

    Attributes
    ----------
    named
        The names of parameters, and those in the brackets of definitions; both may be dimensions.
    """

    def __init__(self, context: ReadContext, statements: StatementActions) -> None:
        self.context = context
        self.scope = context.scope
        self.coerce = context.coerce
        self.reports = context.reports
        self.statements = statements
        self.named: set[str] = set()
        self.type_parameters: set[str] = set()
        self._of_heads: list[set[tir.Var]] = []
        self._decorations: list[Entry] = []
        self._in_module = False
        self._comments: tuple[str, ...] = ()
        self._names: dict[str, Any] = {}
        self._defaults_in: Frame | None = None

    # ------------------------------------------------------------ decorators

    def do_decorator(self, span: Span, decoration: Entry) -> Entry:
        value = decoration.value
        if isinstance(value, ast.Call) and isinstance(value.op, ast.Op):
            # as an unknown word of `R` with arguments is read
            flags = {name: Entry(given, *decoration.span) for name, given in value.attrs.items()}
            value = Form(f"R.{value.op.op_name.removeprefix('relax.')}", [], flags)
        head = _head(value)
        if head is not None and not isinstance(value, CapturedName) and head not in _MARKS:
            meant = misspelt.decorator(head)
            if meant:
                where = (decoration.start, decoration.start + len(head))
                help = did_you_mean([f"@{word}" for word in meant], "`")
                self.reports.error(f"unknown decorator '@{head}'", where, help)
                if isinstance(value, Form):
                    return Entry(Form(meant[0], value.args, value.keywords), *decoration.span)
                return Entry(Name(meant[0]), *decoration.span)
        if head is None or head in _MARKS:  # any other is an unknown decorator
            self._is_imported(decoration)
        if isinstance(value, Form):
            if value.args:
                raise Rejected("a decorator takes keyword arguments only", *decoration.span)
            for given in value.keywords.values():
                plain_data(self.context, given)
        return decoration

    def _is_imported(self, decoration: Entry) -> None:
        """Report, in a Python file, a decorator whose module it does not import; the letters of TVM
        once, where it imports others: what TVM prints imports nothing.
        """
        text, around = self.context.text, self.context.around
        word = re.split(r"\W", self.context.text_of(decoration.span))[0]
        if around is None or not word or around.value(word) is not ...:
            return
        module = _LETTERS.get(word, word)
        if module != word:
            first = re.search(rf"@[ \t]*{word}\.", text)
            if _IMPORTS.search(text) is None or first is None or first.end() <= decoration.start:
                return
        span = (decoration.start, decoration.start + len(word))
        what = word if module == word else f"{module} as {word}"
        known = "import tvm" if word == "tvm" else f"from tvm.script import {what}"
        help = f"write `{known}`"
        self.reports.error(f"{word!r} is not defined", span, help)

    def do_decorators(self, span: Span, before: Entry | None, decorator: Entry) -> list[Entry]:
        found: list[Entry] = [] if before is None else before.value
        found.append(decorator.value)
        self._decorations = found
        self._comments = self._comments_above(span[0])
        return found

    def do_decorated(self, span: Span, decorators: Entry, definition: Entry) -> Any:
        return definition.value

    def _comments_above(self, at: int) -> tuple[str, ...]:
        """The comment lines directly above a definition, without the printed import header."""
        text = self.context.text
        above = (text[start:end].strip() for start, end in lines_above(text, at))
        found = takewhile(lambda line: line.startswith("#"), above)
        return tuple(reversed([line for line in found if not PRINTED.fullmatch(line)]))

    def _is_decorated_with(self, words: set[str]) -> bool:
        return any(_head(entry.value) in words for entry in self._decorations)

    def _check_decorations(self, kind: str, words: set[str]) -> None:
        """Refuse what stands above a definition without a meaning here,
        and arguments it has not.
        """
        seen = False
        for entry in self._decorations:
            value = entry.value
            head = _head(value)
            if isinstance(value, CapturedName):
                continue
            if seen and head in words:
                self.reports.error(f"the decorator @{head} is given twice", entry.span)
            seen = seen or head in words
            if head not in words:
                shown = self.context.text_of(entry.span)
                self.reports.error(f"unknown decorator {shown!r}", entry.span)
                continue
            for name, given in list(value.keywords.items()) if isinstance(value, Form) else ():
                if name not in _FLAGS[kind]:
                    meant = closest(name, _FLAGS[kind])
                    message = f"{head} has no argument {name!r}"
                    self.reports.error(message, given.span, did_you_mean(meant))
                    value.keywords.update(dict.fromkeys(meant, value.keywords.pop(name)))
                elif name == "metadata":  # of 2022: the JSON of constants
                    self.coerce.text(given)
                elif not isinstance(given.value, bool | CapturedName):
                    wrong = f"expected True or False for {name}, found {describe(given.value)}"
                    self.reports.error(wrong, given.span)
                    # What follows says nothing of a function that may have effects.
                    value.keywords[name] = Entry(name != "pure", *given.span)

    # ------------------------------------------------------------ modules

    def do_class_head(self, span: Span, name: Entry) -> Open:
        return self._class_head(name.value, name.start, None, span[0])

    def do_class_head_with_bases(self, span: Span, head: Entry, bases: Entry | None) -> Open:
        shown = None if bases is None else " ".join(self.context.text_of(bases.span).split())
        return self._class_head(head.value.removesuffix("("), head.start, shown, span[0])

    def _class_head(self, name: str, start: int, bases: str | None, at: int) -> Open:
        span = (start, start + len(name))
        if not self._is_decorated_with(_MODULE_WORDS):
            raise Rejected("a class is a module only under @I.ir_module", at, span[1])
        self._check_decorations("module", _MODULE_WORDS)
        if len(self.scope.frames) > 1:
            raise Rejected("a module cannot be defined inside a function", at, span[1])
        if self._in_module:
            raise Rejected("a module cannot contain another module", at, span[1])
        self._in_module = True
        self.scope.modules.add(name)
        return Open((name, self._comments, bases), "module", len(self.scope.frames), span)

    def do_class_def(self, span: Span, head: Entry, body: Entry) -> ast.IRModule:
        name, comments, bases = head.value.value
        functions: dict[ast.GlobalVar, ast.Function | tir.PrimFunc] = {}
        externs: dict[str, ast.ExternFunc] = {}
        said: dict[str, dict[str, object]] = {}
        for item in flatten(body.value):
            if isinstance(item, Defined):
                add_function(self.context, functions, item)
            elif isinstance(item, ModuleStatement):
                self._module_statement(said, item)
            elif isinstance(item, Declared):
                if item.name in externs or item.name in {gv.name_hint for gv in functions}:
                    words = f"the module already has a function {item.name!r}"
                    self.reports.error(words, item.span)
                externs[item.name] = item.extern
        attrs = said.get("I.module_attrs", {})
        listed = said.get("I.module_global_infos", {})
        infos = {
            key: value if isinstance(value, tuple) else (value,) for key, value in listed.items()
        }
        functions = self.scope.declare_results(functions)
        return ast.IRModule(
            functions, attrs, infos, name, False, (), comments, span, bases, externs
        )

    def _module_statement(self, said: dict[str, dict[str, object]], item: ModuleStatement) -> None:
        """Note what a statement on the outer level of a module says."""
        form = item.form
        given = form.args[0].value if len(form.args) == 1 and not form.keywords else None
        if not isinstance(given, dict):
            self.reports.error(f"{form.head} takes one dictionary", item.span)
            return
        if form.head in said:
            self.reports.error(f"{form.head} is given twice", item.span)
        said.setdefault(form.head, {}).update(given)

    def do_local_function(self, span: Span, definition: Entry) -> Any:
        value = definition.value
        if not isinstance(value, Defined) or value.var is None:
            return value
        if isinstance(value.function, tir.PrimFunc):
            raise Rejected("a PrimFunc cannot be defined inside a function", *value.span)
        return ast.VarBinding(value.var, value.function, value.span, value.span)

    # ------------------------------------------------------------ heads of functions

    def do_def_open(self, span: Span, definition: Entry, type_parameters: Entry | None) -> Open:
        name = definition.value.split()[-1]
        name_span = (definition.end - len(name), definition.end)
        if definition.value.startswith("async"):
            word = (definition.start, definition.start + len("async"))
            self.reports.error("TVM does not read `async def`", word, "write `def`")
        local = self.scope.frame.kind != "module"
        if self._is_decorated_with(FUNCTION_WORDS):
            kind, words = "function", FUNCTION_WORDS
        elif self._is_decorated_with(PRIM_WORDS):
            kind, words = "prim_func", PRIM_WORDS
        else:
            message = "expected @R.function or @T.prim_func above this function"
            raise Rejected(message, *definition.span)
        self._check_decorations(kind, words)
        var = self.scope.new_var(name, None, None, name_span) if local else None
        signature = Signature(name, name_span, kind, var)
        signature.decorations = self._decorations
        if var is not None:
            self.scope.bind(name, var)
        opened = open_scope(self.scope, (signature, self._comments), kind, name_span)
        self.scope.in_head = True
        if not local:
            self.scope.begin_function()
        return opened

    def do_type_parameters(
        self, span: Span, before: Entry | None, name: Entry, bound: Entry | None
    ) -> None:
        self.named.add(name.value)
        self.type_parameters.add(name.value)
        if bound is not None and bound.value != "int":
            words = f"a shape variable is an integer: expected {name.value}: int"
            self.reports.error(words, bound.span)

    def do_parameter(
        self, span: Span, name: Entry, annotation: Entry, default: Entry | None
    ) -> Any:
        if name.value in ("None", "True", "False"):
            self.reports.error(no_name(name.value), name.span)
        if default is not None:
            self._default(name, default)
        elif self._defaults_in is self.scope.frame:
            words = (
                f"{name.value!r} has no default value, but follows a parameter with a default value"
            )
            self.reports.error(words, name.span)
        return self.statements.reader.parameter(name, annotation)

    def do_parameter_by_name(self, span: Span, name: Entry, target: Entry, default: Entry) -> Any:
        return self.do_parameter(span, name, annotation_by_name(target), default)

    def _default(self, name: Entry, default: Entry) -> None:
        """A parameter with a default value, which TVM reads past:
        every call gives all arguments.
        """
        words = (
            f"the default value of {name.value!r} has no effect: every call must give all arguments"
        )
        self.reports.note(words, default.span, "PARSE-default")
        self._defaults_in = self.scope.frame

    def do_bare_parameter(self, span: Span, name: Entry) -> Any:
        return self.statements.reader.parameter(name, None)

    def do_parameters(self, span: Span, before: Entry | None, parameter: Entry) -> list[Any]:
        if before is None:
            self._names = {}
        self._new_name(parameter)
        items: list[Any] = [] if before is None else before.value
        items.append(parameter.value)
        return items

    def _new_name(self, entry: Entry) -> None:
        """Report a parameter with the name of one before it."""
        name = str(getattr(entry.value, "name_hint", None) or getattr(entry.value, "name", ""))
        self.named.add(name)
        before = self._names.setdefault(name, entry.value)
        if before is not entry.value:
            words = f"the function already has a parameter {name!r}"
            span = (entry.start, entry.start + len(name))
            self.reports.error(words, span, related=getattr(before, "span", None))
            if isinstance(entry.value, ast.Var):  # which of the two is meant?
                self.scope.bind(name, ast.ErrorExpr(False, span))

    def do_def_head(
        self, span: Span, opened: Entry, parameters: Entry | None, ret: Entry | None
    ) -> Open:
        self.scope.in_head = False
        self._of_heads.append(set(self.coerce.implicit))
        head: Open = opened.value
        signature: Signature = head.value[0]
        if parameters is not None:
            signature.params = parameters.value
        signature.returns_none = ret is not None and ret.value is None
        if ret is not None and ret.value is not None:
            signature.ret_span = ret.span
            if signature.kind == "function":
                signature.ret = without_unknown(self.context.info(ret), self.scope.unknown)
            elif ret.value not in self.coerce.captured:
                signature.ret = PrimBuffers(self.context).annotated_type(ret)
        if signature.kind == "prim_func":
            self.coerce.postpone(None)
        elif ret is not None:
            self.coerce.postpone(ret.span)
        if signature.kind == "function":
            infos = [p.struct_info_annotation for p in signature.params]
            bound = self.scope.bind_shapes(info for info in infos if info is not None)
            self.scope.frame.shape_vars = bound
            self._refuse_shared_names(signature.params, bound)
            for info in (*infos, signature.ret):
                if info is not None:
                    bind_callable(info, self.scope.bound)
        return head

    def unread_head(
        self, opened: Entry, listed: Entry | None, names: Iterable[Token], rest: Span
    ) -> Open:
        """A head with a mistake: it has the parameters in front of the mistake, and others of which
        only the names are known, as of the one beside it. Nothing is known of calls.
        """
        signature: Signature = opened.value.value[0]
        parameters: list[Any] = [] if listed is None else listed.value
        for beside in parameters[-1:]:
            if isinstance(beside, ast.Var):
                unknown = self._unknown(beside.span or rest)
                complete(beside, struct_info_annotation=unknown)
            else:
                self.coerce.captured |= {beside, self.scope.frame.buffers.pop(beside, beside)}
        reader = self.statements.reader
        parameters += [reader.unknown_parameter(Entry(each.value, *each.span)) for each in names]
        self.coerce.captured.add(
            signature.var or self.scope.global_var(signature.name, signature.name_span)
        )
        span = (opened.start, opened.end)
        head = self.do_def_head(span, opened, Entry(parameters, *span), None)
        if signature.kind == "function":
            signature.ret, signature.ret_span = self._unknown(rest), rest
        return head

    def _unknown(self, span: Span) -> ast.StructInfo:
        found = ast.ObjectStructInfo(span)
        self.coerce.captured.add(found)
        return found

    def _refuse_shared_names(self, params: Iterable[ast.Var], bound: Iterable[tir.Var]) -> None:
        """Refuse parameters with the name of a dimension of the head that is another value."""
        dimensions = {var.name: var for var in bound}
        for param in params if not is_prototype(self.context.text) else ():
            dim, info = dimensions.get(param.name_hint), param.struct_info_annotation
            value = info.value if isinstance(info, ast.PrimStructInfo) else None
            if dim is not None and dim is not param.shape_var and dim is not value:
                words = f"{param.name_hint!r} is a dimension and a parameter: give one another name"
                self.reports.error(words, param.span)

    def do_function_def(self, span: Span, head: Entry, body: Entry) -> Defined:
        signature, comments = head.value.value
        frame = self.scope.close()
        of_head = self._of_heads.pop() if self._of_heads else set()
        shapes = (dim for buffer in frame.buffers.values() for dim in buffer.shape)
        matched = {dim for dim in shapes if isinstance(dim, tir.Var)}
        for var in self.coerce.implicit.keys() - of_head - matched:
            del self.coerce.implicit[var]  # WF14 and TIR01 speak of bodies
        reader = self.statements.readers[signature.kind]()
        function = reader.function(signature, comments, frame, body, span)
        return Defined(signature.name, function, span, signature.var)


def _head(value: Any) -> str | None:
    """The word of a decorator."""
    if isinstance(value, Form):
        return value.head
    return value.text if isinstance(value, Name) else None
