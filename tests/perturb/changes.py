"""Changes that break nothing elsewhere: an operator, a rule, a premise, a unit of fuel, a word of each message, a choice of the generator."""

from __future__ import annotations

from typing import NamedTuple


class Edit(NamedTuple):
    """In ``file``, ``new`` replaces ``old``, or goes to the end if ``old`` is empty."""

    file: str
    old: str
    new: str


class Change(NamedTuple):
    """A change, and the rooms whose own tests may notice it."""

    edits: tuple[Edit, ...]
    rooms: tuple[str, ...]


RULE = '''

@operator(
    "relax.cross",
    calls="""
    f(a, 3), f(a, 3)
    f(3, a), f(3, a), axis=0
    """,
)
def cross(site: OperatorCall, x1: Tensor, x2: Tensor, axis_: int = -1) -> StructInfo:
    """The vector products of vectors of three elements along an axis."""
    kind, device = agree(site, (x1, x2)), place(site, (x1, x2))
    a, b = site.dims(x1), site.dims(x2)
    if a is None or b is None or len(a) != len(b):
        if a is not None and b is not None:
            site.fail("OBL-cross-rank", f"rank {len(a)} and rank {len(b)} differ", 1)
        return ranked(site.rank(x1), kind, device)
    vectors(site, a, b, axis(site, axis_, len(a)))
    return tensor(a, kind, device)


@rule("OBL-cross", "obligation")
def vectors(site: OperatorCall, a: Dims, b: Dims, along: int) -> None:
    """Check that both operands have vectors of three elements."""
    for at, (x, y) in enumerate(zip(a, b, strict=True)):
        site.equal("OBL-cross-dims", x, y, lambda: "the shapes of the operands differ", 1)
        if at == along:
            site.equal("OBL-cross-dims", x, const(3), lambda: "a vector has 3 elements", 0)
'''

CLAUSE = """
## OBL-cross Vector products
Both operands of a vector product have the same shape, with 3 elements along the axis.

```rule
OBL-cross-rank: both shapes have the same rank
OBL-cross-dims: S |- ni = mi for each axis i, and nk = 3 for the given axis k
-----------------------------------------------------------------------------
S |- Call(Op(relax.cross), e1, e2) holds
```

Why: the vector product is defined for vectors of three elements.

Premises:
- `OBL-cross-rank`: the operands have the same rank.
- `OBL-cross-dims`: the lengths are equal, and the vectors have 3 elements.

```relax good
@R.function
def main(x: R.Tensor((n, 3), "float32")):
    y = R.cross(x, x)
    return y
```
```relax bad OBL-cross-rank
@R.function
def main(x: R.Tensor((n, 3), "float32"), z: R.Tensor((3,), "float32")):
    y = R.cross(x, z)
    return y
```
```relax bad OBL-cross-dims
@R.function
def main(x: R.Tensor((n, 4), "float32")):
    y = R.cross(x, x)
    return y
```

Source: [TVM documentation, tvm.relax.op][op].

## OBL-einsum Labelled axes
"""

DEFINITION = '''

@computes("relax.cross")
def cross_value(x1: Array, x2: Array, axis: int) -> Array:
    """The vector products of vectors of three elements along an axis."""
    return np.cross(x1, x2, axis=axis)


@defines("relax.cross")
def cross_definition(out: Result, x1: te.Tensor, x2: te.Tensor, axis: int) -> te.Tensor:
    """The vector products of vectors of three elements along an axis."""
    along = axis % x1.ndim

    def element(*i: te.Scalar) -> Any:
        def at(x: te.Tensor, step: int) -> te.Scalar:
            place = te.floormod(i[along] + step, 3)
            return exprs.wide(x(*i[:along], place, *i[along + 1 :]))

        return exprs.convert(at(x1, 1) * at(x2, 2) - at(x1, 2) * at(x2, 1), out.dtype)

    return exprs.filled(out, element)
'''

CASES = """        case("outer", tensor((n,)), tensor((m,))),
        case("cross", tensor((n, 3)), tensor((n, 3))),
        case("cross", tensor((3, n)), tensor((3, n)), axis=0),
"""

NEW_RULE = """## WF25 Constant functions take nothing (`Function`)
A function with the attribute `rlx.constant` has no parameters.

```rule
WF25-parameters: attrs has rlx.constant => k = 0
------------------------------------------------
K |- Function(x1, ..., xk; e; R?; pure; attrs) ok
```

Why: a constant depends on nothing.

Premises:
- `WF25-parameters`: a function with `rlx.constant` has no parameters.

```relax good
@R.function
def main():
    R.func_attr({"rlx.constant": True})
    return R.shape([2])
```
```relax bad WF25-parameters
@R.function
def main(x: R.Object):
    R.func_attr({"rlx.constant": True})
    return x
```

Source: [Informal Relax Language Specification][spec], Well-Formedness Criteria, 21.

"""
NEW_RULE_CODE = '''

@rule("WF25", "well-formed")
def constant_takes_nothing(state: WellFormedCheck, function: ast.Function, name: str) -> None:
    """A function with `rlx.constant` has no parameters."""
    if function.attrs.get("rlx.constant") and function.params:
        words = f"the function {name!r} is constant, but has parameters"
        state.report("WF25-parameters", words, function.name_span or function.span)
'''
NEW_PREMISE = """WF21-once: attrs has not both relax.force_pure and relax.forced
WF21-pure: attrs has relax.force_pure => pure
"""
NEW_PREMISE_TEXT = """- `WF21-once`: a function has only one of `relax.force_pure` and `relax.forced`.
- `WF21-pure`: a function with `relax.force_pure` is pure.
"""
NEW_PREMISE_PROGRAM = """```relax bad WF21-once
@R.function
def main(x: R.Object):
    R.func_attr({"relax.force_pure": True, "relax.forced": True})
    return x
```
```relax bad WF21-pure
"""
NEW_PREMISE_CODE = '''    """A function with `relax.force_pure` is not declared impure."""
    if function.attrs.get("relax.force_pure") and function.attrs.get("relax.forced"):
        words = f"the function {name!r} has both relax.force_pure and relax.forced"
        state.report("WF21-once", words, function.name_span or function.span)
'''

CHANGES = {
    "rule": Change(
        (
            Edit("spec/well_formedness.md", "## WF24 Virtual", f"{NEW_RULE}## WF24 Virtual"),
            Edit("checker/well_formed/functions.py", "", NEW_RULE_CODE),
            Edit(
                "checker/well_formed/traversal.py",
                "    can_be_entered,\n",
                "    can_be_entered,\n    constant_takes_nothing,\n",
            ),
            Edit(
                "checker/well_formed/traversal.py",
                "    purity_is_declared(state, function, name)\n",
                "    purity_is_declared(state, function, name)\n"
                "    constant_takes_nothing(state, function, name)\n",
            ),
        ),
        ("checker", "spec"),
    ),
    "premise": Change(
        (
            Edit(
                "spec/well_formedness.md",
                "WF21-pure: attrs has relax.force_pure => pure\n",
                NEW_PREMISE,
            ),
            Edit(
                "spec/well_formedness.md",
                "- `WF21-pure`: a function with `relax.force_pure` is pure.\n",
                NEW_PREMISE_TEXT,
            ),
            Edit("spec/well_formedness.md", "```relax bad WF21-pure\n", NEW_PREMISE_PROGRAM),
            Edit(
                "checker/well_formed/functions.py",
                '    """A function with `relax.force_pure` is not declared impure."""\n',
                NEW_PREMISE_CODE,
            ),
        ),
        ("checker", "spec"),
    ),
    "operator": Change(
        (
            Edit("operators/linear_algebra.py", "", RULE + DEFINITION),
            Edit("operators/linear_algebra.py", "import literal, ", "import const, literal, "),
            Edit(
                "operators/linear_algebra.py",
                "import agree, need_known",
                "import agree, axis, need_known",
            ),
            Edit("spec/operators.md", "\n## OBL-einsum Labelled axes\n", CLAUSE),
            Edit(
                "tests/operators/cases.py",
                '        case("outer", tensor((n,)), tensor((m,))),\n',
                CASES,
            ),
        ),
        ("operators", "spec"),
    ),
    "fuel": Change(
        (Edit("solver/budget.py", "QUESTION_FUEL = 1_500_000\n", "QUESTION_FUEL = 1_500_001\n"),),
        ("solver",),
    ),
    "word of the grammar": Change(
        (
            Edit("grammar/read/lexer.py", '"this string is not closed', '"this text is not closed'),
            Edit(
                "grammar/read/relax_branches.py",
                "both branches of an if",
                "the branches of an if",
            ),
        ),
        ("grammar",),
    ),
    "word of the checker": Change(
        (
            Edit("checker/derive/calls.py", "takes {counted(expected", "has {counted(expected"),
            Edit(
                "checker/well_formed/state.py",
                'hint!r} is bound a second time", var.span',
                'hint!r} is bound once more", var.span',
            ),
        ),
        ("checker",),
    ),
    "word of an operator": Change(
        (Edit("operators/elementwise.py", "do not broadcast:", "cannot broadcast:"),),
        ("operators",),
    ),
    "generator": Change(
        (
            Edit(
                "generate/programs/operators.py",
                '    return tuple(sorted(filter(of_templates, names), key=lambda n: n != "nn.relu"))\n',
                '    found = sorted(filter(of_templates, names), key=lambda n: n != "nn.relu")\n'
                '    return ("nn.relu", *found)\n',
            ),
        ),
        ("generate",),
    ),
}
"""By name."""
