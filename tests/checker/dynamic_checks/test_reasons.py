"""The status and the reason of each check."""

from __future__ import annotations

import pytest

from rlx.checker.dynamic_checks import DynamicCheck, analyse
from rlx.grammar.read.parser import parse
from rlx.solver.proofs.checker import check
from tests.transform.programs import module_of

HEAD = (
    "@R.function(pure=False)\n"
    'def main(x: R.Tensor(("n", 4), "float32"), z: R.Tensor(("m",), "float32"), u: R.Tensor("float32"), '
    's: R.Shape(["n", "q"]), p: R.Prim(value="i"), o: R.Object, f: R.Callable):\n'
    "    n = T.int64()\n    m = T.int64()\n    q = T.int64()\n    i = T.int64()\n"
    "    k = T.int64()\n    l = T.int64()\n"
)


def cast(*lines: str) -> DynamicCheck:
    """The last cast of a function with these statements."""
    body = "".join(f"    {line}\n" for line in lines)
    checks = analyse(module_of(f"{HEAD}{body}    return x\n"))
    return [check for check in checks if check.kind == "cast"][-1]


@pytest.mark.parametrize(
    "line",
    [
        "R.match_cast(x, R.Object)",
        "R.match_cast(x, R.Tensor)",
        "R.match_cast(x, R.Tensor(ndim=2))",
        'R.match_cast(x, R.Tensor((n, 4), "float32"))',
        'R.match_cast(x, R.Tensor((n * 2 - n, 2 + 2), "float32"))',
        "R.match_cast(s, R.Shape([n, q]))",
        "R.match_cast(s, R.Shape(ndim=2))",
        "R.match_cast(p, R.Prim(value=i))",
        "R.match_cast((x, s), R.Tuple(R.Tensor((n, 4)), R.Shape))",
        "R.match_cast(R.const([1, 2]), R.Tensor((2,)))",
        "R.match_cast(f, R.Callable)",
        "R.match_cast(R.zeros(R.shape([n, q]), 'int8'), R.Tensor((n, q), 'int8'))",
    ],
)
def test_redundant(line: str) -> None:
    found = cast(line)
    assert (found.status, found.reason, found.open_parts) == ("redundant", "", ())


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            'y = R.match_cast(x, R.Tensor((k, l), "float32"))',
            "dimension 0: it binds k, which is already known to be n; …",
        ),
        (
            "y = R.match_cast(R.shape([n * 2]), R.Shape([k]))",
            "dimension 0: it binds k, which is already known to be n * 2",
        ),
        ("y = R.match_cast(p, R.Prim(value=k))", "it binds k, which is already known to be i"),
    ],
)
def test_redundant_with_variables(line: str, reason: str) -> None:
    found = cast(line)
    said, mark, _ = reason.partition("…")
    assert found.status == "redundant"
    assert found.reason.startswith(said) if mark else found.reason == said


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("R.match_cast(x, R.Shape)", "a shape is expected, but Tensor((n, 4), float32) is known"),
        ("R.match_cast(x, R.Tensor(ndim=3))", "rank 3 is expected, but 2 is known"),
        ('R.match_cast(x, R.Tensor("int8"))', "dtype int8 is expected, but float32 is known"),
        ("R.match_cast(x, R.Tensor((n, 5)))", "dimension 1: 5 is expected, but 4 is known"),
        (
            "R.match_cast(x, R.Tensor((n + 1, 4)))",
            "dimension 0: n + 1 is expected, but n is known",
        ),
        ("R.match_cast((x,), R.Tuple([]))", "0 fields is expected, but 1 is known"),
        ("R.match_cast(p, R.Prim('int8'))", "dtype int8 is expected, but int64 is known"),
        ("R.match_cast(p, R.Prim(value=i - 1))", "i - 1 is expected, but i is known"),
        (
            "R.match_cast(s, R.Shape([q * 2, q * 2 + 1]))",
            "its dimensions contradict each other",
        ),
    ],
)
def test_impossible(line: str, reason: str) -> None:
    found = cast(line)
    assert (found.status, found.reason) == ("impossible", reason)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            "R.match_cast(x, R.Tensor((8, 4)))",
            "dimension 0: 8 is expected, but n is known (they differ for n = 0)",
        ),
        ("R.match_cast(u, R.Tensor(ndim=1))", "rank 1 is expected, but nothing is known"),
        ("R.match_cast(o, R.Shape)", "a shape is expected, but nothing is known"),
        ("y = R.match_cast(u, R.Tensor((k,)))", "rank 1 is expected, but nothing is known; …"),
        ("y = R.match_cast(R.shape([n // m]), R.Shape([k]))", "dimension 0: it binds k"),
        (
            "R.match_cast(p, R.Prim(value=T.max(i, 0)))",  # no size: it may be negative
            "T.max(i, 0) is expected, but i is known (they differ for i = -1)",
        ),
        (
            'R.match_cast(x, R.Tensor((n * m // m, 4), "float32"))',
            "dimension 0: n * m // m is expected, but n is known",
        ),
        (
            "R.match_cast(f, R.Callable((R.Tensor,), R.Tensor))",
            "a function is expected, but Callable(... -> Object, impure) is known; …",
        ),
    ],
)
def test_needed(line: str, reason: str) -> None:
    found = cast(line)
    said, mark, _ = reason.partition("…")
    assert found.status == "needed"
    assert found.reason.startswith(said) if mark else found.reason == said


def test_a_cast_that_binds_what_nobody_uses() -> None:
    assert cast('R.match_cast(z, R.Tensor((k,), "float32"))').status == "redundant"
    assert cast("R.match_cast(R.unique(z), R.Tensor((k,)))").status == "redundant"
    assert cast("y = R.match_cast(R.unique(z), R.Tensor((k,)))").status == "needed"


def test_what_a_cast_says_is_known_afterwards() -> None:
    first = "y = R.match_cast(u, R.Tensor((k, k * 2)))"
    assert cast("R.match_cast(u, R.Tensor((k, k + k)))").status == "needed"
    assert cast(first, "R.match_cast(u, R.Tensor((k, k + k)))").status == "redundant"
    assert cast(first, "R.match_cast(y, R.Tensor((k, k + k)))").status == "redundant"
    same = "R.match_cast(x, R.Tensor((m, 4)))"
    assert cast(same, "R.match_cast(z, R.Tensor((n,)))").status == "redundant"
    assert cast("R.match_cast(z, R.Tensor((n,)))").status == "needed"


def test_what_a_branch_says_ends_with_it() -> None:
    lines = [
        "c = R.const(True, 'bool')",
        "if c:",
        "    R.match_cast(x, R.Tensor((m, 4)))",
        "    w = R.match_cast(z, R.Tensor((n,)))",
        "else:",
        "    w = z",
    ]
    assert cast(*lines).status == "redundant"
    assert cast(*lines, "R.match_cast(z, R.Tensor((n,)))").status == "needed"


CLAIM = 'y = R.call_pure_packed("f", x, sinfo_args=R.Tensor((n,), "float32"))'
ANNOTATED = 'y: R.Tensor((n,), "float32") = R.call_pure_packed("f", x, sinfo_args=R.Object)'
CALLED = 'g = R.match_cast(f, R.Callable((R.Tensor,), R.Tensor((n,), "float32")))'


@pytest.mark.parametrize("claim", [[CLAIM], [ANNOTATED], [CALLED, "y = g(x)"]])
@pytest.mark.parametrize("between", [[], ["y = R.nn.relu(y)"]])
def test_a_claim_is_no_guarantee(claim: list[str], between: list[str]) -> None:
    line = 'R.match_cast(y, R.Tensor((n,), "float32"))'
    assert cast(*claim, *between, line).status == "needed"
    body = "".join(f"    {part}\n" for part in [*claim, *between, line])
    believed = analyse(module_of(f"{HEAD}{body}    return x\n"), trusting=True)
    assert [c.status for c in believed if c.kind == "cast"][-1] == "redundant"


def test_what_an_operator_makes_itself_is_guaranteed() -> None:
    made = 'y = R.call_dps_packed("f", (x,), out_sinfo=R.Tensor((n,), "float32"))'
    assert cast(made, 'R.match_cast(y, R.Tensor((n,), "float32"))').status == "redundant"


def test_a_doubt_is_no_guarantee() -> None:
    """The sum of z and a row of x has four elements, or m is 1: what is derived may be wrong."""
    added = "y = R.reshape(x, R.shape([4]))"
    assert cast(added, "R.match_cast(y, R.Tensor((4,)))").status == "needed"


MODULE = """\
@I.ir_module
class Module:
    @T.prim_func
    def kernel(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("s"):
                v = T.axis.spatial(4, i)
                b[v] = a[v]

    @R.function(private=True)
    def inner(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        return x

    @R.function(pure=False)
    def main(a: R.Tensor((4,), "float32"), b: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        k = Module.kernel
        R.match_cast(k, R.Callable)
        c: R.Tensor((4,), "float32") = R.call_tir_inplace(Module.kernel, (a, b), inplace_indices=[1], out_sinfo=R.Tensor((4,), "float32"))
        R.match_cast(c, R.Tensor((4,), "float32"))
        d: R.Tensor((4,), "float32") = Module.inner(c)
        R.match_cast(d, R.Tensor((4,), "float32"))
        @R.function
        def double(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            return y
        e: R.Tensor((4,), "float32") = double(d)
        R.match_cast(e, R.Tensor((4,), "float32"))
        return e
"""


def test_functions_of_the_module() -> None:
    """A PrimFunc is no function value; what the module's functions return, they have checked."""
    checks = analyse(module_of(MODULE))
    casts = [(c.subject, c.status) for c in checks if c.kind == "cast"]
    assert casts == [("k", "needed"), ("c", "redundant"), ("d", "redundant"), ("e", "redundant")]
    others = {(c.kind, c.function, c.subject): c.status for c in checks if c.kind != "cast"}
    assert others == {
        ("entry", "inner", "x"): "needed",  # it binds n, which the result is annotated with
        ("return", "inner", "the result"): "redundant",
        ("entry", "main", "a"): "needed",
        ("entry", "main", "b"): "needed",
        ("return", "main", "the result"): "redundant",
        ("entry", "main.double", "y"): "redundant",
        ("return", "main.double", "the result"): "redundant",
    }


def test_checks_come_by_place() -> None:
    spans = [check.span for check in analyse(module_of(MODULE))]
    assert None not in spans
    assert spans == sorted(spans, key=lambda span: span or (0, 0))


OVERWRITING = """\
@I.ir_module
class Module:
    @T.prim_func
    def kernel({handles}):
        T.evaluate(0)

    @R.function(pure=False)
    def main(a: R.Tensor((4,), "float32"), u: R.Tensor("float32", ndim=1), w: R.Tensor((5,), "float32")):
        y = R.call_tir_inplace(Module.kernel, {given}, inplace_indices={places}, out_sinfo={declared})
        R.match_cast(y, {declared})
        return a
"""
FOUR = 'R.Tensor((4,), "float32")'


@pytest.mark.parametrize(
    ("given", "places", "declared", "status"),
    [
        ("(a, u)", "[0]", FOUR, "redundant"),
        ("(u, a)", "[1]", FOUR, "redundant"),
        ("(a, u)", "[1]", FOUR, "needed"),
        ("(u, a)", "[0]", FOUR, "needed"),
        ("(a, u)", "[0, -1]", f"[{FOUR}, {FOUR}]", "redundant"),
        ("(a, u)", "[-1, 0]", f"[{FOUR}, {FOUR}]", "redundant"),
        ("(a, u)", "[1, -1]", f"[{FOUR}, {FOUR}]", "needed"),
        ("(a, u)", "[0, 1]", f"[{FOUR}, {FOUR}]", "needed"),
    ],
)
def test_a_result_in_place_is_the_argument(
    given: str, places: str, declared: str, status: str
) -> None:
    """A result that is new is made as declared; one that overwrites an argument is what the argument is."""
    count = 2 + places.count("-1")
    handles = ", ".join(f"{name}: T.handle" for name in "abc"[:count])
    text = OVERWRITING.format(handles=handles, given=given, places=places, declared=declared)
    cast_to = f"R.Tuple({FOUR}, {FOUR})" if declared.startswith("[") else declared
    text = text.replace(f"R.match_cast(y, {declared})", f"R.match_cast(y, {cast_to})")
    checks = analyse(module_of(text))
    assert [c.status for c in checks if c.kind == "cast"] == [status]


@pytest.mark.parametrize(("kind", "status"), [("T.int64", "redundant"), ("T.int32", "needed")])
def test_a_size_stands_for_a_variable_of_its_own_type(kind: str, status: str) -> None:
    text = f"""
@R.function
def main(x: R.Tensor((n, 4), "float32")):
    k = {kind}()
    y = R.match_cast(x, R.Tensor((k, 4), "float32"))
    return y
"""
    (module,) = parse(text).modules  # a dimension of another type is an error (WF05)
    (check,) = [check for check in analyse(module) if check.kind == "cast"]
    assert check.status == status


@pytest.mark.parametrize("size", ["(n + 1) // 2 * 2 - n % 2", "n * 2 + 1"])
def test_what_the_prover_proved_has_a_certificate(size: str) -> None:
    """The reasons of a redundant check and of an impossible one."""
    found = cast(f"R.match_cast(x, R.Tensor(({size}, 4)))")
    assert found.status == ("impossible" if size == "n * 2 + 1" else "redundant")
    (certificate,) = found.certificates
    check(certificate)
    assert size in certificate["goal"]
