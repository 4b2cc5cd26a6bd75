"""The visiting method of each kind of node; visitors and mutators use the same names."""

from __future__ import annotations

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.by_hand import with_shape_vars
from rlx.grammar.nodes.python_places import MisuseError, here
from rlx.grammar.nodes.visit import called_globals


def module_around(function: ast.Function) -> tuple[ast.GlobalVar, ast.IRModule]:
    """A module with one function, under its own name or `main`. Nothing is known of the other
    functions that it calls.
    """
    function = with_shape_vars(function)
    gv = ast.GlobalVar(str(function.attrs.get("global_symbol", "main")))
    called = called_globals(function)
    gv = next((each for each in called if each.name_hint == gv.name_hint), gv)
    others = frozenset(each.name_hint for each in called if each is not gv)
    return gv, ast.IRModule({gv: function}, lost=others)


OF_LEAVES: dict[type[ast.Expr], tuple[str, ...]] = {
    ast.Var: ("visit_var",),
    ast.DataflowVar: ("visit_var", "visit_dataflow_var"),
    ast.GlobalVar: ("visit_global_var",),
    ast.Op: ("visit_op",),
    ast.Constant: ("visit_constant",),
    ast.StringImm: ("visit_string_imm",),
    ast.DataTypeImm: ("visit_data_type_imm",),
    ast.PrimValue: ("visit_prim_value", "visit_prim_expr"),
    ast.ShapeExpr: ("visit_shape_expr", "visit_prim_expr"),
}
"""The methods beside `visit_expr` that see leaves."""


def unseen_leaves(cls: type, base: type) -> frozenset[type[ast.Expr]]:
    """The kinds of leaves that no method of a class looks at."""

    def looks(name: str) -> bool:
        return getattr(cls, name) is not getattr(base, name)

    if looks("visit_expr"):
        return frozenset()
    return frozenset(kind for kind, names in OF_LEAVES.items() if not any(map(looks, names)))


EXPRESSIONS: dict[type[ast.Expr], str] = {
    ast.Var: "visit_var",
    ast.DataflowVar: "visit_dataflow_var",
    ast.GlobalVar: "visit_global_var",
    ast.Op: "visit_op",
    ast.Constant: "visit_constant",
    ast.PrimValue: "visit_prim_value",
    ast.StringImm: "visit_string_imm",
    ast.DataTypeImm: "visit_data_type_imm",
    ast.ExternFunc: "visit_extern_func",
    ast.ShapeExpr: "visit_shape_expr",
    ast.Tuple: "visit_tuple",
    ast.TupleGetItem: "visit_tuple_get_item",
    ast.Call: "visit_call",
    ast.If: "visit_if",
    ast.SeqExpr: "visit_seq_expr",
    ast.Function: "visit_function",
}
"""The method for each kind of expression."""


_OF_TVM = {
    "builder_": "self.builder",
    "visit_expr_post_order": "super().visit_call(call), which visits the parts first",
    "visit_with_new_scope": "self.visit_expr(expr)",
    "set_var_remap": "self.replace_var(var, value)",
    "get_var_remap": "self.visit_expr(var)",
    **dict.fromkeys(("with_struct_info", "with_type"), "a new rlx.Var"),
    "reemit_binding": "self.rebind(binding, value)",
}
"""What to write instead of the methods of TVM's functors."""


_RENAMED = {
    "visit_generic_const_": "visit_constant",
    "visit_tuple_getitem_": "visit_tuple_get_item",
    "visit_expr_fallback_": "visit_expr",
    **dict.fromkeys(("visit_type", "visit_ty"), "visit_struct_info"),
    **{
        f"visit_{word}_": "visit_prim_expr"
        for word in (
            *("int_imm", "float_imm", "add", "sub", "mul", "div", "mod", "floor_div", "floor_mod"),
            *("lshift", "rshift", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"),
            *("min", "max", "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not", "cast"),
            *("select", "ramp", "broadcast", "shuffle", "buffer_load"),
        )
    },
}
"""Methods of TVM's functors whose names are not ours with an underscore."""


def missing_attribute(owner: object, name: str) -> AttributeError:
    """The error for an attribute that a visitor or mutator does not have."""
    if name == "builder":
        return AttributeError(f"{type(owner).__name__} has a builder only while it visits")
    hint = f": write {_OF_TVM[name]}" if name in _OF_TVM else ""
    return AttributeError(f"{type(owner).__name__!r} object has no attribute {name!r}{hint}")


def refuse_arguments(owner: object, known: type, given: bool, call: str) -> None:
    """Raise MisuseError if ``__init__`` of a visitor or mutator gets arguments; ``call`` is what
    takes the module.
    """
    if given:
        name = type(owner).__name__
        own = type(owner).__init__ is not known.__init__  # type: ignore[misc]
        made = f"super().__init__(), and {name}(…)" if own else f"{name}()"
        every = ", which visits each function" if own else ""
        words = f"{name} takes no arguments: write {made}{call}(module){every}"
        raise MisuseError(words, here())


def unknown_method(cls: type, known: type) -> str | None:
    """A method of a subclass whose name looks like a visiting method but is not one."""
    from rlx.grammar.suggest import closest

    names = [name for name in dir(known) if name.startswith("visit_")]
    for name in vars(cls):
        if name.startswith("visit_") and not hasattr(known, name):
            if name in _OF_TVM:
                return f"{cls.__name__}.{name} is never called: write {_OF_TVM[name]}"
            near = [_RENAMED[name]] if name in _RENAMED else closest(name, names)
            meant = f"; did you mean {near[0]}?" if near else ""
            return f"{cls.__name__}.{name} is never called: there is no such kind of node{meant}"
    return None
