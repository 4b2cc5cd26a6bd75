"""A function under construction: its scopes and blocks, and the operands that its steps find or
make.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rlx.generate.calls.pattern import LETTERS
from rlx.generate.programs.choices import Choices
from rlx.generate.programs.dims import Dims, Placement, const, free, place, tensor, variables
from rlx.generate.programs.plan import Options
from rlx.generate.programs.values import Key, KnownValue, ScopeValues, nearest
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import BOOL, DataType
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.struct_infos import of_the_value
from rlx.grammar.nodes.tir import PrimExpr
from rlx.operators.dim_arithmetic import literal

# ---------------------------------------------------------------- the module


class Callee(Record):
    """A function of the module that others may call."""

    name: ast.GlobalVar
    binders: tuple[tir.Var, ...]
    params: tuple[ast.StructInfo, ...]
    ret: ast.StructInfo
    pure: bool


class ModuleBuilder:
    """A module under construction.

    Attributes
    ----------
    step
        What adds to a function under construction what a record says.
    callees
        The functions that are finished.
    devices
        The virtual devices of the program.
    placed
        Whether a value was put on a virtual device, so that the module must declare it.
    """

    def __init__(self, options: Options, step: Callable[[Any, Choices], None]) -> None:
        self.options = options
        self.step = step
        self.functions: dict[ast.GlobalVar, ast.Function | tir.PrimFunc] = {}
        self.callees: list[Callee] = []
        self.placed = False
        self.devices: tuple[tuple[str, int], ...] = (("llvm", 0),)
        self.names = 0

    def name(self, hint: str) -> ast.GlobalVar:
        """A global name that is new."""
        self.names += 1
        return ast.GlobalVar(f"{hint}{self.names}")

    def shape_vars(self) -> tuple[tir.Var, ...]:
        """The shape variables that a function may have."""
        return tir.Var("n"), tir.Var("m"), tir.Var("k")

    def pool(self, variables: Sequence[tir.Var]) -> list[PrimExpr]:
        """The dimensions from which a function starts."""
        numbers: list[PrimExpr] = [const(k) for k in (2, 3, 4, 1, 5)]
        if not variables:
            return numbers
        n, m, k = variables
        made = (tir.Mul(n, const(2)), tir.Add(n, m), tir.Add(n, const(1)), tir.Mul(m, k))
        found = (tir.interned(d) for d in made)
        return [numbers[0], n, numbers[1], m, n, *numbers[2:], k, *found]


_FLOATS = (1.0, 0.5, -1.0, 2.0, 0.0, 3.5)
_CONSTANT_ELEMENTS = 4


class Body:
    """The blocks of a SeqExpr so far."""

    __slots__ = ("blocks", "open")

    def __init__(self) -> None:
        self.blocks: list[tuple[bool, list[ast.Binding]]] = []
        self.open = False

    def bindings(self, dataflow: bool) -> list[ast.Binding]:
        """The block at the end, a new one where it is of the other kind."""
        if not self.blocks or self.blocks[-1][0] != dataflow:
            self.blocks.append((dataflow, []))
        return self.blocks[-1][1]

    def sequence(self, result: ast.Expr) -> ast.SeqExpr:
        """The SeqExpr that leads to this result."""
        made = [
            ast.DataflowBlock(tuple(found)) if dataflow else ast.BindingBlock(tuple(found))
            for dataflow, found in self.blocks
            if found
        ]
        return ast.SeqExpr(tuple(made), result)


class FunctionBuilder:
    """A global function under construction; its closures and branches are built with it.

    Attributes
    ----------
    grows
        Whether a value that is missing may become a parameter.
    pure, dataflow, output
        What the current place allows: no effects; in a dataflow block; there, a binding that is put
        out.
    """

    def __init__(
        self, module: ModuleBuilder, steps: Sequence[bytes], head: Choices, grows: bool = True
    ) -> None:
        self.module, self.grows = module, grows
        self.queue, self.at = steps, 0
        self.params: list[ast.Var] = []
        self.count = 0
        self.frames = [ScopeValues()]
        self.body = Body()
        self.dataflow = self.output = False
        options = module.options
        self.pure = not ("impure" in options.features and head.one_in(4))
        self.shape_vars = module.shape_vars() if "symbolic" in options.features else ()
        self.frame.dims = module.pool(self.shape_vars)

    # ------------------------------------------------------------------ scopes

    @property
    def depth(self) -> int:
        """The number of open scopes inside the function."""
        return len(self.frames) - 1

    @property
    def frame(self) -> ScopeValues:
        """The innermost scope."""
        return self.frames[-1]

    def take(self, most: int) -> None:
        """Take the next steps, as many as are left at most."""
        end = min(self.at + most, len(self.queue))
        while self.at < end:
            choices = Choices(self.queue[self.at])
            self.at += 1
            self.module.step(self, choices)

    def enter(self) -> tuple[Body, bool, bool]:
        """Open a scope with a body of its own; what was there, for :meth:`leave`."""
        outer = self.body, self.dataflow, self.output
        self.body, self.dataflow = Body(), False
        self.frames.append(ScopeValues(self.frame))
        return outer

    def leave(self, outer: tuple[Body, bool, bool], result: ast.Expr) -> ast.SeqExpr:
        """Close the scope with its result."""
        sequence = self.body.sequence(result)
        self.body, self.dataflow, self.output = outer
        self.frames.pop()
        return sequence

    # ------------------------------------------------------------------ bindings

    def name(self, hint: str) -> str:
        """A name that this function does not have yet."""
        self.count += 1
        return f"{hint}{self.count}"

    def bind(
        self,
        choices: Choices,
        value: ast.Expr,
        info: ast.StructInfo,
        annotation: ast.StructInfo | None = None,
        truth: ast.StructInfo | None = None,
    ) -> KnownValue:
        """Bind an expression of known struct info; ``annotation`` replaces it as the variable's."""
        local = self.dataflow and not self.output
        label = choices.byte()
        wanted = choices.one_in(4)
        # in a text, an annotation of the variable of an If belongs to the branches
        if annotation is None and wanted and type(value) is not ast.If and not _secret(info):
            annotation = info
        made = ast.DataflowVar if local else ast.Var
        var = made(self.name("lv" if local else "gv"), annotation)
        self.body.bindings(self.dataflow).append(ast.VarBinding(var, value))
        return self.add(label, var, annotation or info, truth or info, local)

    def effect(self, value: ast.Expr) -> None:
        """A call for its effect alone."""
        self.body.bindings(False).append(ast.VarBinding(ast.Var("_"), value))

    def cast(
        self, choices: Choices, value: KnownValue, info: ast.StructInfo, fresh: Sequence[tir.Var]
    ) -> None:
        """Cast a value, which brings these shape variables into scope."""
        local = self.dataflow and not self.output
        made = ast.DataflowVar if local else ast.Var
        var = made(self.name("lv" if local else "gv"))
        cast = ast.MatchCast(var, value.expr, info, tuple(fresh))
        self.body.bindings(self.dataflow).append(cast)
        self.frame.dims += fresh
        self.add(choices.byte(), var, info, info, local)

    def add(
        self,
        label: int,
        expr: ast.Expr,
        info: ast.StructInfo,
        truth: ast.StructInfo,
        local: bool = False,
    ) -> KnownValue:
        """Bring a value into the present scope."""
        value = KnownValue(label, expr, info, truth, local)
        self.frame.add(value, made=True)
        return value

    def consume(self, value: KnownValue) -> None:
        """Take a value of the present scope out of it: nothing may use what was overwritten."""
        self.frame.remove(value)

    def parameter(self, info: ast.StructInfo, label: int) -> KnownValue:
        """A new parameter of the function, in scope everywhere."""
        var = ast.Var(self.name("p"), info)
        self.params.append(var)
        value = KnownValue(label, var, info, info)
        for frame in self.frames:
            frame.add(value)
        return value

    # ------------------------------------------------------------------ what steps need

    def dim(self, choices: Choices) -> PrimExpr:
        """A dimension in scope."""
        return choices.pick(self.frame.dims)

    def tensor(
        self,
        choices: Choices,
        kind: DataType,
        pattern: Dims,
        chosen: dict[PrimExpr, PrimExpr],
        literals: bool = True,
    ) -> ast.Expr:
        """A tensor of a pattern of dimensions; ``chosen`` is what its letters stand for, and is
        added to.

        With ``literals`` it may be a constant, of which the checker sees the elements.
        """
        if not choices.one_in(8):
            for value in self._near(choices, (kind, len(pattern))):
                placed = self._unified(pattern, value.dims or (), chosen)
                if placed is not None:
                    chosen.update(placed)
                    return value.expr
        for dim in pattern:
            for var in variables(dim):
                if var in LETTERS and var not in chosen:
                    chosen[var] = self.dim(choices)
        return self.fresh(choices, kind, tuple(place(d, chosen) for d in pattern), literals)

    def _near(self, choices: Choices, key: Key) -> list[KnownValue]:
        """The values of a class in the order in which they are tried, mostly those first that a
        binding gave.
        """
        found = self.frame.of(key)
        if not found:
            return found
        label = choices.byte()
        ordered = nearest(found, label)
        if label % 4:
            made = set(map(id, self.frame.made))
            ordered.sort(key=lambda value: id(value) not in made)
        return ordered

    def _unified(
        self, pattern: Dims, dims: Dims, chosen: Placement
    ) -> dict[PrimExpr, PrimExpr] | None:
        """The meaning of the letters of a pattern that gives these dimensions."""
        found: dict[PrimExpr, PrimExpr] = {}
        for wanted, dim in zip(pattern, dims, strict=True):
            if wanted is dim:
                continue
            if type(wanted) is tir.Var:
                known = chosen.get(wanted) or found.get(wanted)
                if known is None and wanted in LETTERS:
                    found[wanted] = dim
                elif known is not dim:
                    return None
            elif type(wanted) is tir.IntImm:
                if literal(dim) != wanted.value:
                    return None
            elif self._placed(wanted, {**chosen, **found}) is not dim:
                return None
        return found

    def _placed(self, wanted: PrimExpr, chosen: Placement) -> PrimExpr | None:
        if all(v in chosen or v not in LETTERS for v in variables(wanted)):
            return place(wanted, chosen)
        return None

    def fresh(
        self, choices: Choices, kind: DataType, dims: Dims, literals: bool = True
    ) -> ast.Expr:
        """A new tensor: a parameter, a constant, or one that is filled."""
        info = tensor(dims, kind)
        choice = choices.below(6)
        elements = 1
        for dim in dims:
            elements *= literal(dim) or _CONSTANT_ELEMENTS + 1
        if literals and choice == 3 and elements <= _CONSTANT_ELEMENTS:
            return constant(choices, kind, tuple(literal(d) or 0 for d in dims))
        outside = self.grows and free(info) <= set(self.shape_vars)
        if outside and choice != 4:
            return self.parameter(info, choices.byte()).expr
        name = "relax.ones" if choice == 4 else "relax.zeros"
        call = ast.Call(ast.op(name), (ast.ShapeExpr(dims),), {"dtype": str(kind)})
        return self.bind(choices, call, info).expr

    def found(self, choices: Choices, info: ast.TensorStructInfo) -> ast.Expr:
        """A tensor of exactly this struct info."""
        assert isinstance(info.shape, ast.ShapeExpr)
        return self.tensor(choices, info.dtype, info.shape.values, {})

    def expression(self, choices: Choices, info: ast.StructInfo) -> ast.Expr:
        """An expression that may stand where this struct info is asked for."""
        match info:
            case ast.TensorStructInfo(shape=ast.ShapeExpr()):
                return self.found(choices, info)
            case ast.TensorStructInfo(dtype=kind, ndim=ndim):
                dims = tuple(self.dim(choices) for _ in range(max(ndim, 0)))
                return self.tensor(choices, kind, dims, {})
            case ast.ShapeStructInfo(values=values) if values is not None:
                return ast.ShapeExpr(values)
            case ast.PrimStructInfo(value=value) if value is not None:
                return ast.PrimValue(value)
            case ast.TupleStructInfo(fields=fields):
                return ast.Tuple(tuple(self.expression(choices, f) for f in fields))
        objects = self.frame.of("object") or self.frame.order
        return nearest(objects, choices.byte())[0].expr if objects else ast.Tuple(())

    def condition(self, choices: Choices) -> ast.Expr:
        """A condition that an If may test."""
        scalars = "scalars" in self.module.options.features
        if scalars and self.shape_vars and choices.one_in(2):
            compared = choices.pick((tir.GT, tir.LT, tir.EQ, tir.GE))
            bound = tir.IntImm(choices.below(5))
            return ast.PrimValue(compared(choices.pick(self.shape_vars), bound))
        return self.tensor(choices, BOOL, (), {})


def constant(choices: Choices, kind: DataType, shape: tuple[int, ...]) -> ast.Constant:
    """A constant of few elements."""

    def element() -> object:
        if kind == BOOL:
            return bool(choices.below(2))
        return choices.pick(_FLOATS) if kind.is_float else choices.below(4)

    def nested(rest: tuple[int, ...]) -> object:
        if not rest:
            return element()
        return tuple(nested(rest[1:]) for _ in range(rest[0]))

    return ast.Constant(ast.Literal(nested(shape), kind, shape))


def _secret(info: ast.StructInfo) -> bool:
    """Whether struct info is better not written out: that of functions binds its own variables."""
    return any(
        isinstance(part, ast.FuncStructInfo)
        or (isinstance(part, ast.TensorStructInfo) and part.vdevice is not None)
        for part in of_the_value(info)
    )
