"""Conversion of recorded applications of rules to the steps of a derivation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rlx.checker.check import Report
from rlx.checker.why import values
from rlx.checker.why.applied import OF_EXPRESSIONS, Applied, rule_step, words_and_place
from rlx.checker.why.place import Construct, is_nameless, on_one_line
from rlx.checker.why.recorder import DerivationRecorder, RuleApplication
from rlx.checker.why.step import Finder, Step, buffer_text, failed_premise, parameter_name
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.node import Node, Span
from rlx.grammar.nodes.visit import bindings_in, expressions
from rlx.grammar.print.show import show
from rlx.grammar.wording import shortened
from rlx.spec import premise_rule


class Index:
    """The tables in which a derivation looks things up.

    Attributes
    ----------
    home
        By variable, ``"parameter"`` with the function or ``"binding"`` with the binding.
    functions, sequences
        What functions, and the bodies and branches that have bindings, are called.
    bodies
        The function that each body is of.
    globals
        The functions of the modules.
    """

    def __init__(self, modules: Iterable[ast.IRModule]) -> None:
        self.home: dict[ast.Var, tuple[str, Node]] = {}
        self.functions: dict[Node, str] = {}
        self.sequences: dict[Node, str] = {}
        self.bodies: dict[Node, ast.Function] = {}
        self.globals: dict[ast.GlobalVar, ast.Function | tir.PrimFunc] = {}
        for module in modules:
            self._index(module)

    def _index(self, module: ast.IRModule) -> None:
        self.globals.update(module.functions)
        for gv, function in module.functions.items():
            self.functions[function] = gv.name_hint
            for node in expressions(function) if isinstance(function, ast.Function) else ():
                if isinstance(node, ast.Function):
                    self.home.update((p, ("parameter", node)) for p in node.params)
                    self.bodies[node.body] = node
                    self.sequences[node.body] = f"the body of {self.functions.get(node, 'it')}"
                elif isinstance(node, ast.If):
                    self.sequences[node.true_branch] = "the branch taken if it is true"
                    self.sequences[node.false_branch] = "the branch taken if it is false"
                elif isinstance(node, ast.SeqExpr):
                    for binding in bindings_in(node):
                        if (var := binding.var) is None:
                            continue
                        self.home.setdefault(var, ("binding", binding))
                        if isinstance(binding, ast.VarBinding) and isinstance(
                            binding.value, ast.Function
                        ):
                            self.functions.setdefault(binding.value, var.name_hint)


TEXT = 72
"""Characters of an expression that are shown."""

_SUBJECTS = ast.Expr | ast.Binding | tir.PrimFunc


class StepBuilder:
    """The steps of one check, made where they are asked for."""

    def __init__(self, report: Report, recorder: DerivationRecorder) -> None:
        self.source = report.source
        self.info_of = report.info
        self.applied = Applied(report.diagnostics)
        self.records: dict[Node, RuleApplication] = {}
        self.reports: dict[object, tuple[RuleApplication, Node | None]] = {}
        self._tables: list[Mapping[Node, StructInfo]] = []
        self._read(recorder.roots)
        self.index = Index(report.modules)
        self._steps: dict[object, Step] = {}

    def _read(self, roots: Iterable[RuleApplication]) -> None:
        """Note which application gave each subject its struct info, and where each report was made."""
        stack: list[tuple[RuleApplication, Node | None]] = [(record, None) for record in roots]
        while stack:
            record, subject = stack.pop()
            if record.name == "D01":
                self._tables.append(record.given[0].info_of)
            if record.name in OF_EXPRESSIONS:
                own = next((v for v in record.given if isinstance(v, _SUBJECTS)), None)
                if own is not None:
                    subject = own
                    self.records.setdefault(own, record)
            self.reports.update((words_and_place(d), (record, subject)) for d in record.diagnostics)
            stack.extend((inner, subject) for inner in record.inner)

    # ------------------------------------------------------------ asking

    def tree(self, constructs: Iterable[Construct]) -> list[Step]:
        return list(dict.fromkeys(self._construct(c) for c in constructs))

    def alone(self, diagnostics: Iterable[Diagnostic]) -> list[Step]:
        """Steps for what is wrong at a place and part of no derivation there."""
        return list(dict.fromkeys(self._home_of(d) for d in diagnostics))

    def _construct(self, construct: Construct) -> Step:
        subject = construct.subject
        match construct.kind:
            case "result":
                assert isinstance(subject, ast.SeqExpr)
                return self._result(subject)
            case "parameter":
                assert isinstance(subject, ast.Var)
                return self._parameter(subject)
            case "binding":
                assert isinstance(subject, ast.Binding)
                return self._binding(subject)
            case "primfunc":
                assert isinstance(subject, tir.PrimFunc)
                return self._prim_func(subject)
        assert isinstance(subject, ast.Expr)
        return self.expression(subject)

    def _once(
        self, key: object, step: Step, parts: Finder | None, rest: Finder | None = None
    ) -> Step:
        """The step for a key: derivations are longer than Python can recurse, and than is shown."""
        self._steps[key] = step.later(parts, rest)
        return step

    # ------------------------------------------------------------ expressions

    def expression(self, expr: ast.Expr) -> Step:
        """The step that gives an expression its struct info."""
        if isinstance(expr, ast.Var) and is_nameless(expr, self.source):
            _, binding = self.index.home.get(expr, (None, None))
            if isinstance(binding, ast.VarBinding) and not isinstance(binding.value, ast.Var):
                return self.expression(binding.value)
        found = self._steps.get(expr)
        if found is not None:
            return found
        info = self.info_of.get(expr)
        record = self.records.get(expr)
        name = "" if record is None else record.name
        if record is None and isinstance(expr, ast.Var | ast.GlobalVar | ast.Op):
            name = "D02"
        if info is None or not name:
            text = f"{self.text(expr)}: nothing was derived because of an earlier error"
            return self._once(expr, Step("note", text, span=_span(expr)), None)
        # The place of a global variable is that of its first use, which tells nothing.
        span = None if isinstance(expr, ast.GlobalVar) else _span(expr)
        step = rule_step(name, lambda: f"{self.text(expr)} : {show(info)}", span, info)

        def parts(step: Step) -> None:
            for label, part in self._parts(expr, step):
                step.has(label, part)

        return self._once(expr, step, parts, lambda step: self._fill(step, expr, record))

    def _fill(self, step: Step, expr: ast.Expr, record: RuleApplication | None) -> None:
        if record is not None:
            self.applied.add(step, record)
        if not isinstance(expr, ast.Var):  # that of a variable is said of its binding
            self._placed(step, expr)

    def _placed(self, step: Step, node: Node) -> None:
        """Add the step of propagation where the struct info was derived without a device."""
        after = self.info_of.get(node)
        before = next((table[node] for table in self._tables if node in table), after)
        if isinstance(before, StructInfo) and isinstance(after, StructInfo) and before is not after:
            step.has("", rule_step("VDEV-propagate", f"{show(before)} ⇒ {show(after)}"))

    def _parts(self, expr: ast.Expr, step: Step) -> Iterator[tuple[str, Step]]:
        """The derivations of what an expression is made of."""
        match expr:
            case ast.Var():
                yield "", self._bound(expr)
            case ast.GlobalVar():
                yield from self._global(expr)
            case ast.Call():
                yield from self._of_call(expr, step)
            case ast.Tuple(fields=fields):
                yield from ((f"field {i}", self.expression(f)) for i, f in enumerate(fields))
            case ast.TupleGetItem(tuple_value=value, index=index):
                step.takes("index", str(index))
                yield "tuple", self.expression(value)
            case ast.If(cond=cond, true_branch=then, false_branch=otherwise):
                yield "condition", self.expression(cond)
                yield "then", self.expression(then)
                yield "else", self.expression(otherwise)
            case ast.SeqExpr(blocks=blocks, body=body):
                for block in blocks:
                    yield from (("", self._binding(b)) for b in block.bindings if self._shown(b))
                yield "result", self.expression(body)
            case ast.Function(params=params, body=body):
                yield from (("parameter", self._parameter(p)) for p in params)
                yield "body", self.expression(body)

    def _shown(self, binding: ast.Binding) -> bool:
        """Whether a binding is not seen where its value is used anyway."""
        return not (
            isinstance(binding, ast.VarBinding) and is_nameless(binding.var, self.source)
        ) or isinstance(binding.value, ast.Function)

    def _of_call(self, call: ast.Call, step: Step) -> Iterator[tuple[str, Step]]:
        if isinstance(call.op, ast.Op):
            yield from self._of_operator(call, call.op, step)
            return
        yield "callee", self.expression(call.op)
        yield from ((f"argument {i}", self.expression(a)) for i, a in enumerate(call.args))

    def _of_operator(self, call: ast.Call, op: ast.Op, step: Step) -> Iterator[tuple[str, Step]]:
        """Arguments by the parameters they are bound to, and the defaults."""
        from rlx.operators import lookup
        from rlx.operators.parameters import REQUIRED

        operator = lookup(op.op_name)
        parameters = operator.parameters if operator is not None else ()
        for index, argument in enumerate(call.args):
            yield parameter_name(parameters, index), self.expression(argument)
        for name, value in call.attrs.items():
            if isinstance(value, ast.Expr):
                yield name, self.expression(value)
            elif values.value_text(value):
                step.takes(name, values.value_text(value))
        if call.sinfo_args:
            step.takes("types", values.value_text(call.sinfo_args))
        for parameter in parameters[len(call.args) :]:
            if parameter.name not in call.attrs and parameter.default not in (REQUIRED, None):
                step.takes(parameter.name, f"{parameter.default} (default)")

    # ------------------------------------------------------------ names

    def _bound(self, var: ast.Var) -> Step:
        match self.index.home.get(var):
            case "parameter", _:
                return self._parameter(var)
            case _, ast.Binding() as binding:
                return self._binding(binding)
        return Step("note", f"nothing binds '{var.name_hint}'", span=var.span)

    def _global(self, gv: ast.GlobalVar) -> Iterator[tuple[str, Step]]:
        """A function by its signature, or by its body where no annotation says what it returns."""
        function = self.index.globals.get(gv)
        info = self.info_of.get(gv)
        if isinstance(function, tir.PrimFunc):
            yield "", self._prim_func(function)
        elif function is None or info is None:
            yield "", Step("note", f"the module has no function '{gv.name_hint}'", span=gv.span)
        elif function.ret_struct_info is None:
            yield "", self.expression(function)
        else:
            span = function.name_span or function.span
            text = f"{gv.name_hint} : {show(info)}"
            step = rule_step("D01", text, span, info)
            step.details = ("given by its annotations",)
            yield "", step

    def _parameter(self, var: ast.Var) -> Step:
        found = self._steps.get(("parameter", var))
        if found is not None:
            return found
        _, function = self.index.home.get(var, ("", var))
        owner = self.index.functions.get(function, "a function")
        info = self.info_of.get(var)
        told = "" if info is None else f" : {show(info)}"
        step = rule_step("D11", f"{var.name_hint}{told}", var.span, info)
        said = "as annotated" if var.struct_info_annotation is not None else "without annotation"
        step.details = (f"a parameter of {owner}, {said}",)
        return self._once(("parameter", var), step, None, lambda step: self._placed(step, var))

    def _prim_func(self, function: tir.PrimFunc) -> Step:
        found = self._steps.get(function)
        if found is not None:
            return found
        record = self.records.get(function)
        name = self.index.functions.get(function, "the PrimFunc")
        span = function.name_span or function.span
        if record is None or not isinstance(record.result, StructInfo):
            return Step("note", f"nothing was derived of {name}", span=span)
        step = rule_step("D16", f"{name} : {show(record.result)}", span, record.result)
        for param in function.params:
            buffer = function.buffer_map.get(param)
            said = str(param.dtype) if buffer is None else buffer_text(buffer)
            step.takes(param.name, said)
        return self._once(function, step, None)

    # ------------------------------------------------------------ bindings

    def _binding(self, binding: ast.Binding) -> Step:
        found = self._steps.get(binding)
        if found is not None:
            return found
        var = binding.var
        info = self.info_of.get(var) if var is not None else None
        name = var.name_hint if var is not None else "match_cast"
        step = rule_step(
            "D11",
            lambda: name if info is None else f"{name} : {show(info)}",
            binding.span,
            info,
        )
        return self._once(
            binding,
            step,
            lambda step: step.has("value", self.expression(binding.value)),
            lambda step: self._fill_binding(step, binding),
        )

    def _fill_binding(self, step: Step, binding: ast.Binding) -> None:
        if isinstance(binding, ast.MatchCast):
            step.takes("cast to", show(binding.struct_info))
        said = None if binding.var is None else binding.var.struct_info_annotation
        if said is not None:
            step.takes("annotated", show(said))
        record = self.records.get(binding)
        if record is not None:
            self.applied.add(step, record)
        if binding.var is not None:
            self._placed(step, binding.var)

    def _result(self, seq: ast.SeqExpr) -> Step:
        """The step of the result of a function or a branch: its last expression, without the
        bindings.
        """
        key = ("result", seq)
        found = self._steps.get(key)
        if found is not None:
            return found
        function = self.index.bodies.get(seq)
        rule, what, span = "D10", self.text(seq), seq.body_span
        if function is not None:
            rule, what = "D15", f"what {self.index.functions.get(function, 'it')} returns"
        info = self.info_of.get(seq)
        step = rule_step(rule, what if info is None else f"{what} : {show(info)}", span, info)
        if function is not None and function.ret_struct_info is not None:
            step.takes("annotated", show(function.ret_struct_info))

        def fill(step: Step) -> None:
            record = self.records.get(function or seq)
            if record is not None:
                self.applied.add(step, record)

        body = seq.body
        return self._once(key, step, lambda s: s.has("result", self.expression(body)), fill)

    def _home_of(self, diagnostic: Diagnostic) -> Step:
        """The derivation inside of which something was found wrong."""
        record, subject = self.reports.get(words_and_place(diagnostic), (None, None))
        match diagnostic.rule, subject:
            case "D15", ast.Function(body=ast.SeqExpr() as body):
                return self._result(body)
            case _, ast.Function() | tir.PrimFunc() | None:
                return self._outside(diagnostic, record)
            case _, ast.Binding() as binding:
                return self._binding(binding)
        assert isinstance(subject, ast.Expr)
        return self.expression(subject)

    def _outside(self, diagnostic: Diagnostic, record: RuleApplication | None) -> Step:
        """Diagnostics of rules that give no struct info: well-formedness, syntax, PrimFuncs."""
        rule = premise_rule(diagnostic.code)
        if rule is None:
            return failed_premise(diagnostic)
        text = ""
        if record is not None:
            text = ", ".join(f"{n} = {v}" for n, v in values.argument_texts(record.arguments))
        step = rule_step(rule.identifier, text, diagnostic.span, None)
        self.applied.premise(step, diagnostic)
        if record is not None:
            step.holds(code for code in record.held if code != diagnostic.code)
        return step

    # ------------------------------------------------------------ words

    def text(self, expr: ast.Expr) -> str:
        """An expression as its author wrote it, on one line."""
        match expr:
            case ast.Var(name_hint=name) | ast.GlobalVar(name_hint=name):
                return name
            case ast.Function():
                return self.index.functions.get(expr, "the function")
            case ast.SeqExpr():
                return self.index.sequences.get(expr, "the sequence")
            case ast.If(cond=cond):
                return f"if {self.text(cond)}"
        span = _span(expr)
        if span is not None:
            return on_one_line(self.source.text, span, TEXT)
        return shortened(show(expr), TEXT)


def _span(expr: ast.Expr) -> Span | None:
    span: Span | None = getattr(expr, "span", None)
    return span
