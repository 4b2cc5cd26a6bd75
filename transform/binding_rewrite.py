"""Changes of single bindings of a dataflow block."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Binding, Expr, IRModule
from rlx.grammar.nodes.node import Node, replace
from rlx.grammar.nodes.python_places import (
    MisuseError,
    described,
    flag,
    here,
    module_of,
    of_kind,
    spelt,
)
from rlx.grammar.nodes.unused_names import Names
from rlx.grammar.nodes.visit import bindings, evaluated, expressions, free_vars
from rlx.transform.visitors.uses import Without, unneeded, uses


class DataflowBlockRewrite:
    """Adds, removes and replaces bindings of a dataflow block. The given block, function and module
    are not changed; nothing is checked before :func:`rlx.check`.

    Parameters
    ----------
    dfb
        The block.
    root_fn
        The function that contains it.

    Attributes
    ----------
    dfb, root_fn
        The block and the function as they are now.

    Raises
    ------
    MisuseError
        If the block is not one of the function.
    """

    @spelt
    def __init__(self, dfb: ast.DataflowBlock, root_fn: ast.Function) -> None:
        if not isinstance(dfb, ast.DataflowBlock) or not isinstance(root_fn, ast.Function):
            found = f"{described(dfb)} and {described(root_fn)}"
            raise MisuseError(f"expected a dataflow block and its function, found {found}", here())
        self.dfb, self.root_fn, self._original = dfb, root_fn, root_fn
        if not any(block is dfb for block in _blocks(root_fn)):
            raise MisuseError("the dataflow block is not one of the function", here())
        self._names = Names(b.var.name_hint for b in bindings(root_fn) if b.var is not None)

    def add_binding(self, binding: Binding) -> None:
        """Add a binding behind the bindings of the variables that it uses, and behind the first
        one.
        """
        if not isinstance(binding, Binding):
            raise MisuseError(f"expected a binding, found {described(binding)}", here())
        bindings = self.dfb.bindings
        used = set(free_vars(binding.value))
        where = max((k for k, b in enumerate(bindings) if b.var in used), default=0) + 1
        found = (*bindings[:where], binding, *bindings[where:])
        self._changed(_Change(self.dfb, ast.DataflowBlock(found, self.dfb.span)))

    @spelt
    def add(self, expr: Expr, name: str | None = None, is_dfvar: bool = False) -> ast.Var:
        """Add a binding of a new variable, as :meth:`add_binding` does.

        Parameters
        ----------
        name
            The name of the variable; by default an unused one.
        is_dfvar
            Whether the variable is local to the block.

        Returns
        -------
        Var
            The variable.
        """
        place = here()
        if not isinstance(expr, Expr):
            raise MisuseError(f"expected an expression, found {described(expr)}", place)
        hint = "tmp" if name is None else of_kind(name, str, "a name")
        kind = ast.DataflowVar if flag(is_dfvar, "is_dfvar") else ast.Var
        var = kind(self._names.new(hint), None, None, place)
        self.add_binding(ast.VarBinding(var, expr, place, place))
        return var

    def replace_all_uses(self, old_var: ast.Var, new_var: ast.Var) -> None:
        """Replace all uses of a variable in the function by another one.

        Raises
        ------
        MisuseError
            If the new one is local to the block, and the old one is used behind it.
        """
        for var in (old_var, new_var):
            if not isinstance(var, ast.Var):
                raise MisuseError(f"expected a variable, found {described(var)}", here())
        if isinstance(new_var, ast.DataflowVar) and not isinstance(old_var, ast.DataflowVar):
            inside = sum(used is old_var for used in evaluated(self.dfb, ast.Var))
            if uses(self.root_fn)[old_var] > inside:
                new, old = new_var.name_hint, old_var.name_hint
                words = f"{new} is local to its dataflow block, and {old} is used outside of it"
                raise MisuseError(f"{words}: give {new}'s value to add(…)", here())
        self._changed(_Change(self.dfb, uses={old_var: new_var}))

    @spelt
    def remove_unused(self, var: ast.Var, allow_undef: bool = False) -> None:
        """Remove the binding of a variable that is not used.

        Parameters
        ----------
        allow_undef
            Whether nothing happens if the block does not bind the variable.

        Raises
        ------
        MisuseError
            If the variable is used, or the block does not bind it.
        """
        name = var.name_hint if isinstance(var, ast.Var) else described(var)
        if not any(b.var is var for b in self.dfb.bindings):
            if allow_undef:
                return
            raise MisuseError(f"the block does not bind {name}", here())
        if uses(self.root_fn)[var]:
            raise MisuseError(f"{name} is used, so its binding stays", here())
        self._changed(_Change(self.dfb, gone={var}))

    def remove_all_unused(self) -> None:
        """Remove the bindings in dataflow blocks of variables that are used only by each other."""
        inside = {
            b.var
            for block in _blocks(self.root_fn)
            if isinstance(block, ast.DataflowBlock)
            for b in block.bindings
            if isinstance(b, ast.VarBinding)
        }
        gone = unneeded(self.root_fn, lambda var, _: var in inside)
        self._changed(_Change(self.dfb, gone=gone))

    def mutated_dfb(self) -> ast.DataflowBlock:
        """The block as it is now."""
        return self.dfb

    def mutated_root_fn(self) -> ast.Function:
        """The function as it is now."""
        return self.root_fn

    def mutate_irmodule(self, irmodule: IRModule) -> IRModule:
        """The module with the function as it is now in place of the given one."""
        given = module_of(irmodule).functions
        functions = {gv: self.root_fn if f is self._original else f for gv, f in given.items()}
        return replace(irmodule, functions=functions)

    def _changed(self, change: _Change) -> None:
        self.root_fn = change.function(self.root_fn)
        assert isinstance(change.new, ast.DataflowBlock)
        self.dfb = change.new


def _blocks(function: ast.Function) -> list[ast.BindingBlock]:
    sequences = (e for e in expressions(function) if isinstance(e, ast.SeqExpr))
    return [block for seq in sequences for block in seq.blocks]


class _Change(Without):
    """Replaces a block, uses of a variable, or bindings. Blocks are not merged."""

    def __init__(
        self,
        block: ast.DataflowBlock,
        new: ast.BindingBlock | None = None,
        *,
        uses: Mapping[ast.Var, Expr] = {},
        gone: Collection[ast.Var] = (),
    ) -> None:
        super().__init__(gone)
        self._old, self._uses = block, uses
        self._given = new
        self.new: ast.BindingBlock = block

    def sequence(self, seq: ast.SeqExpr) -> Expr:
        return self.inside(seq)

    def part(self, node: Node) -> Node:
        return self.block(node) if isinstance(node, ast.BindingBlock) else super().part(node)

    def block(self, block: ast.BindingBlock) -> ast.BindingBlock:
        found = self._given if block is self._old and self._given else super().block(block)
        if block is self._old:
            self.new = found
        return found

    def var(self, var: ast.Var) -> Expr:
        return self._uses.get(var) or super().var(var)
