"""The actions of modules, functions and their decorators."""

from __future__ import annotations

from typing import Any

from rlx.grammar import ast, misspelt, tir
from rlx.grammar.comments import PRINTED
from rlx.grammar.control import Control
from rlx.grammar.dtype import DataType
from rlx.grammar.forms_info import without_unknown
from rlx.grammar.lalr import Entry, Rejected
from rlx.grammar.node import Span
from rlx.grammar.partial_nodes import (
    Defined,
    ModuleStatement,
    Open,
    Return,
    Signature,
    flatten,
    sequence,
)
from rlx.grammar.scope import Frame, bind_callable
from rlx.grammar.suggest import closest, did_you_mean
from rlx.grammar.unresolved import CapturedName, Form, Name

_FLAGS = {
    "module": {"check_well_formed", "s_tir"},
    "function": {"check_well_formed", "private", "pure"},
    "prim_func": {"check_well_formed", "private", "s_tir", "persistent", "is_stir"},
}
"""The arguments that the decorators of each kind of definition have."""
_MODULE_WORDS = {"I.ir_module", "tvm.script.ir_module", "ir_module", "script.ir_module"}
_FUNCTION_WORDS = {"R.function", "R.func", "R.macro"}
_PRIM_WORDS = {"T.prim_func", "T.func"}
_MARKS = _MODULE_WORDS | _FUNCTION_WORDS | _PRIM_WORDS


class Definitions(Control):
    """Definition and statement actions; the state of a text being read."""

    decorations: list[Entry]
    comments: tuple[str, ...] = ()
    in_head = False
    _names: dict[str, Any]
    _defaults_in: Frame | None = None

    # ------------------------------------------------------------ decorators

    def do_decorator(self, c: list[Entry]) -> Entry:
        value, start, end = c[1]
        head = getattr(value, "text", getattr(value, "head", None))
        if isinstance(head, str) and not isinstance(value, CapturedName) and head not in _MARKS:
            meant = misspelt.decorator(head)
            if meant:
                where = (start, start + len(head))
                self.error(
                    f"unknown decorator '@{head}'",
                    where,
                    did_you_mean([f"@{w}" for w in meant], "`"),
                )
                read = (
                    Form(meant[0], value.args, value.keywords)
                    if isinstance(value, Form)
                    else Name(meant[0])
                )
                return read, start, end
        if isinstance(value, Form):
            if value.args:
                raise Rejected("a decorator has named arguments only", start, end)
            for given in value.keywords.values():
                self.plain_data(given, self.coerce.attr(given))
        return c[1]

    def do_decorators(self, c: list[Entry]) -> list[Entry]:
        if len(c) == 1:
            found: list[Entry] = [c[0][0]]
        else:
            found = c[0][0]
            found.append(c[1][0])
        self.decorations = found
        self.comments = self._comments_above(c[0][1])
        return found

    def _comments_above(self, at: int) -> tuple[str, ...]:
        """The comment lines directly above a definition, without the printed import header."""
        found: list[str] = []
        text = self.text
        line = text.rfind("\n", 0, at)
        while line > 0:
            before = text.rfind("\n", 0, line)
            shown = text[before + 1 : line].strip()
            if not shown.startswith("#"):
                break
            if not PRINTED.fullmatch(shown):
                found.append(shown)
            line = before
        return tuple(reversed(found))

    def _decorated_with(self, words: set[str]) -> Form | None:
        for entry in self.decorations:
            value = entry[0]
            if isinstance(value, Name) and value.text in words:
                return Form(value.text, [], {})
            if isinstance(value, Form) and value.head in words:
                return value
        return None

    def _check_decorations(self, kind: str, words: set[str]) -> None:
        """Refuse what stands above a definition without a meaning here, and arguments it has not."""
        for value, start, end in self.decorations:
            head = getattr(value, "text", getattr(value, "head", None))
            if isinstance(value, CapturedName):
                continue
            if head not in words:
                self.error(f"unknown decorator {self.text_between(start, end)!r}", (start, end))
                continue
            for name, given in list(value.keywords.items()) if isinstance(value, Form) else ():
                if name not in _FLAGS[kind]:
                    meant = closest(name, _FLAGS[kind])
                    message = f"{head} has no argument {name!r}"
                    self.error(message, (given[1], given[2]), did_you_mean(meant))
                    value.keywords.update(dict.fromkeys(meant, value.keywords.pop(name)))

    # ------------------------------------------------------------ modules

    def do_class_head(self, c: list[Entry]) -> Open:
        name = str(c[1][0]).rstrip("(")
        if self._decorated_with(_MODULE_WORDS) is None:
            raise Rejected("a class is read as a module only under @I.ir_module", c[0][1], c[1][2])
        self._check_decorations("module", _MODULE_WORDS)
        self.scope.modules.add(name)
        span = (c[1][1], c[1][1] + len(name))
        bases = " ".join(self.text_between(c[2][1], c[2][2]).split()) if len(c) == 5 else None
        return Open((name, self.comments, bases), len(self.scope.frames), span)

    def do_class_def(self, c: list[Entry]) -> ast.IRModule:
        name, comments, bases = c[0][0].value
        functions: dict[ast.GlobalVar, ast.Function | tir.PrimFunc] = {}
        said: dict[str, dict[str, object]] = {}
        for item in flatten(c[1][0]):
            if isinstance(item, Defined):
                self.add_function(functions, item)
            elif isinstance(item, ModuleStatement):
                self._module_statement(said, item)
        attrs = said.get("I.module_attrs", {})
        listed = said.get("I.module_global_infos", {})
        infos = {key: _as_tuple(value) for key, value in listed.items()}
        span = (c[0][1], c[-1][2])
        self.scope.declare_results(functions)
        return ast.IRModule(functions, attrs, infos, name, False, (), comments, span, bases)

    def _module_statement(self, said: dict[str, dict[str, object]], item: ModuleStatement) -> None:
        """Note what a statement on the outer level of a module says."""
        form = item.form
        match form.args:
            case [(dict() as given, _, _)] if not form.keywords:
                if form.head in said:
                    self.error(f"{form.head} is given twice", item.span)
                said.setdefault(form.head, {}).update(given)
            case _:
                self.error(f"{form.head} takes one dictionary", item.span)

    def add_function(
        self, functions: dict[ast.GlobalVar, ast.Function | tir.PrimFunc], item: Defined
    ) -> None:
        """Add a global function to a module under construction."""
        name_span = item.function.name_span
        variable = self.scope.global_var(item.name, name_span)
        if variable in functions:
            assert name_span is not None
            self.error(
                f"the module already has a function {item.name!r}",
                name_span,
                related=functions[variable].name_span,
            )
            return
        functions[variable] = item.function

    def do_decorated(self, c: list[Entry]) -> Any:
        return c[1][0]

    # ------------------------------------------------------------ functions

    def do_def_open(self, c: list[Entry]) -> Open:
        text, start, end = c[0]
        name = text[3:].strip()
        name_span = (end - len(name), end)
        local = self.scope.frame.kind != "module"
        if self._decorated_with(_FUNCTION_WORDS) is not None:
            kind = "function"
        elif self._decorated_with(_PRIM_WORDS) is not None:
            kind = "prim_func"
        else:
            raise Rejected("expected @R.function or @T.prim_func above this function", start, end)
        self._check_decorations(kind, _FUNCTION_WORDS if kind == "function" else _PRIM_WORDS)
        var = self._new_var(name, None, None, name_span) if local else None
        signature = Signature(name, name_span, kind, var)
        signature.decorations = self.decorations
        if var is not None:
            self.scope.bind(name, var)
        opened = Open((signature, self.comments), len(self.scope.frames) + 1, name_span)
        self.scope.open(kind)
        self.in_head = True
        if not local:
            self.begin_dataflow()
        return opened

    def do_type_parameters(self, c: list[Entry]) -> None:
        return None

    def do_parameter(self, c: list[Entry]) -> Any:
        if self._defaults_in is self.scope.frame:
            words = f"{c[0][0]!r} has no default value, but follows a parameter that has one"
            self.error(words, (c[0][1], c[0][2]))
        return self._parameter(c)

    def _parameter(self, c: list[Entry]) -> Any:
        name, start, end = c[0]
        if self.scope.frame.kind == "prim_func":
            return self.prim_parameter(c)
        info = self.coerce.info(c[2])
        var = ast.Var(name, info, (c[2][1], c[2][2]), (start, end))
        self.scope.bind_parameter(var, self.text.startswith("T.", c[2][1]))
        return var

    def do_defaulted_parameter(self, c: list[Entry]) -> Any:
        return self._defaulted(c[:3], c[4])

    def do_defaulted_by_name(self, c: list[Entry]) -> Any:
        text, start, _ = c[2]
        annotation = (Name(text), start, start + len(text))
        return self._defaulted([c[0], c[1], annotation], c[3])

    def _defaulted(self, c: list[Entry], default: Entry) -> Any:
        """A parameter with a default value, which TVM reads past: every call gives all arguments."""
        words = f"the default value of {c[0][0]!r} has no effect: a call gives every argument"
        span = (default[1], default[2])
        self.note(words, span, "PARSE-default")
        self._defaults_in = self.scope.frame
        return self._parameter(c)

    def do_bare_parameter(self, c: list[Entry]) -> Any:
        name, start, end = c[0]
        if self.scope.frame.kind == "prim_func":
            return self.prim_bare_parameter(c[0])
        var = ast.Var(name, None, None, (start, end))
        self.scope.bind_parameter(var, False)
        return var

    def do_parameters(self, c: list[Entry]) -> list[Any]:
        if len(c) == 1:
            self._names = {}
            self._new_name(c[0])
            return [c[0][0]]
        items: list[Any] = c[0][0]
        self._new_name(c[2])
        items.append(c[2][0])
        return items

    def _new_name(self, entry: Entry) -> None:
        """Report a parameter with the name of one before it."""
        name = _name_of(entry[0])
        before = self._names.setdefault(name, entry[0])
        if before is not entry[0]:
            end = entry[1] + len(name)
            words = f"the function already has a parameter {name!r}"
            self.error(words, (entry[1], end), related=getattr(before, "span", None))

    def do_def_head(self, c: list[Entry]) -> Open:
        self.in_head = False
        opened: Open = c[0][0]
        signature: Signature = opened.value[0]
        if isinstance(c[1][0], list):
            signature.params = c[1][0]
        if c[-3][0] == "->":
            ret = c[-2]
            signature.ret_span = (ret[1], ret[2])
            if signature.kind == "function":
                signature.ret = without_unknown(self.coerce.info(ret), self.scope.unknown)
            else:
                signature.ret = self._prim_ret(ret)
        if signature.kind == "function":
            infos = [p.struct_info_annotation for p in signature.params]
            bound = self.scope.bind_shapes(info for info in infos if info is not None)
            self.scope.frame.attrs["shape_vars"] = bound
            for info in (*infos, signature.ret):
                if info is not None:
                    bind_callable(info, self.scope.bound)
        return opened

    def _prim_ret(self, entry: Entry) -> DataType | None:
        value = entry[0]
        return None if value is None else self.coerce.data_type(entry)

    def do_function_def(self, c: list[Entry]) -> Defined:
        signature, comments = c[0][0].value
        frame = self.scope.close()
        start, end = c[0][1], c[-1][2]
        if signature.kind == "prim_func":
            function: Any = self.prim_func(signature, comments, frame.attrs, c[1][0], (start, end))
        else:
            function = self._function(signature, comments, frame.attrs, c[1][0], (start, end))
        return Defined(signature.name, function, (start, end), signature.var)

    def _function(
        self,
        signature: Signature,
        comments: tuple[str, ...],
        frame_attrs: dict[str, object],
        statements: list[Any],
        span: Span,
    ) -> ast.Function:
        shape_vars: Any = frame_attrs.pop("shape_vars", ())
        attrs = dict(frame_attrs)
        flags = self._flags(signature.decorations, _FUNCTION_WORDS)
        if flags.pop("private", False):
            attrs["private"] = True
        elif signature.var is None:
            attrs.setdefault("global_symbol", signature.name)
        pure = flags.pop("pure", None)
        body = self._body(signature, statements, span)
        shape_vars = (*shape_vars, *_scalars(signature.params, shape_vars))
        return ast.Function(
            tuple(signature.params),
            body,
            signature.ret,
            pure if isinstance(pure, bool) else None,
            attrs,
            shape_vars,
            signature.ret_span,
            signature.name_span,
            comments,
            span,
        )

    def _flags(self, decorations: list[Entry], words: set[str]) -> dict[str, object]:
        """The keyword arguments of a function's decorator."""
        flags: dict[str, object] = {}
        for entry in decorations:
            value = entry[0]
            if isinstance(value, Form) and value.head in words:
                flags.update({k: self.coerce.attr(v) for k, v in value.keywords.items()})
        return flags

    def _body(self, signature: Signature, statements: list[Any], span: Span) -> ast.SeqExpr:
        statements = flatten(statements)
        for at, item in enumerate(statements):
            if isinstance(item, Return):
                if at + 1 < len(statements):
                    where = getattr(statements[at + 1], "span", None) or item.span
                    self.error("nothing after a return is reached", where, layout=True)
                return sequence(statements[:at], item.value, item.span, span)
        if not self.has_errors_in(span):
            self.error(
                f"the function {signature.name!r} has no return",
                signature.name_span,
                help="end it with `return` and a value",
                layout=True,
            )
        hole = self.hole("_", signature.name_span)
        return sequence(statements, hole, signature.name_span, span)

    def do_local_function(self, c: list[Entry]) -> Any:
        value = c[0][0]
        if isinstance(value, ast.IRModule):
            raise Rejected("a module can't stand inside a module", c[0][1], c[0][2])
        if not isinstance(value, Defined) or value.var is None:
            return value
        if isinstance(value.function, tir.PrimFunc):
            raise Rejected("a PrimFunc can't be defined inside a function", *value.span)
        return ast.VarBinding(value.var, value.function, value.span, value.span)


def _scalars(params: list[ast.Var], known: tuple[tir.Var, ...]) -> list[tir.Var]:
    """The shape variables that parameters are; the annotation of such a parameter binds its variable."""
    found: list[tir.Var] = []
    for param in params:
        var, info = param.shape_var, param.struct_info_annotation
        if var is None or not isinstance(info, ast.PrimStructInfo):
            continue
        bound = ast.PrimStructInfo(info.dtype, var, info.span)
        object.__setattr__(param, "struct_info_annotation", bound)
        if var not in known:
            found.append(var)
    return found


def _name_of(param: Any) -> str:
    """The name of a parameter of a Relax function or of a PrimFunc."""
    return str(getattr(param, "name_hint", None) or getattr(param, "name", ""))


def _as_tuple(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)
