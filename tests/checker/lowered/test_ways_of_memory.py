"""Memory is followed through tuples, constants, slots of heaps, and the functions of the module."""

from __future__ import annotations

import math

import pytest

from rlx.checker.check import check_text
from rlx.checker.lowered.slot_values import KnownValues
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import dtype
from rlx.solver.evaluate import evaluate

PROGRAM = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def fill(a: T.Buffer((4,), "float32")):
        for i in range(4):
            a[i] = T.float32(1)
    @T.prim_func(private=True)
    def more(a: T.Buffer((4,), "float32")):
        for i in range(4):
            a[i] = a[i] + T.float32(1)
    @T.prim_func(private=True, s_tir=True)
    def rows(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("row"):
                v = T.axis.spatial(4, i)
                part = T.match_buffer(a[v], (), "float32", offset_factor=1)
                to = T.match_buffer(b[v], (), "float32", offset_factor=1)
                to[()] = part[()]
    @T.prim_func(private=True)
    def copy(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        T.func_attr({"tirx.noalias": NOALIAS})
        for i in range(4):
            b[i] = a[i]
    @R.function(private=True, pure=False)
    def through(p: R.Tensor((4,), "float32"), q: R.Tensor((4,), "float32")):
        cls = M
        from_ = p
        both = (from_, q)
        to = both[1]
        _ = cls.copy(from_, to)
        return R.tuple()
    @R.function(private=True, pure=False)
    def asks(p: R.Tensor((), "bool")):
        if p:
            r = R.tuple()
        else:
            r = R.tuple()
        return r
    @R.function(private=True, pure=False)
    def same(p: R.Tensor((4,), "float32")):
        return p
    @R.function(private=True, pure=False)
    def again(p: R.Tensor((4,), "float32"), q: R.Tensor((4,), "float32"), c: R.Prim("bool")) -> R.Tuple():
        cls = M
        if c:
            _ = cls.again(p, q, c)
            r = R.tuple()
        else:
            _ = cls.through(p, q)
            r = R.tuple()
        return r
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32"), c: R.Prim("bool")):
        n = T.int64()
        cls = M
        s = R.vm.alloc_storage(R.shape([32]), 0, "uint8", "global")
        t = R.vm.alloc_tensor(s, 0, R.shape([4]), "float32")
        u = R.vm.alloc_tensor(s, 16, R.shape([4]), "float32")
        BODY
"""
UNWRITTEN, OVERLAP, FITS = "MEM-written-before", "MEM-apart-overlap", "MEM-fits-end"
FILL = "_ = cls.fill(t)\n"
CASES = {
    "a field that was written": (FILL + "w = (t, u)\ny = R.add(w[0], w[0])", set()),
    "a field that was not": (FILL + "w = (t, u)\ny = R.add(w[1], w[1])", {UNWRITTEN}),
    "a field of a field": (FILL + "w = ((t, u), t)\nv = w[0]\ny = R.add(v[1], v[0])", {UNWRITTEN}),
    "a field of one of two tuples": (
        FILL + "if c:\n    w = (t, u)\nelse:\n    w = (t, u)\ny = R.add(w[0], w[0])",
        set(),
    ),
    "read by a function of the module": ("_ = cls.through(t, u)", {UNWRITTEN}),
    "written by a function of the module": (FILL + "_ = cls.through(t, u)\ny = R.add(u, u)", set()),
    "written by a function that calls itself": (
        FILL + "_ = cls.again(t, u, c)\ny = R.add(u, u)",
        set(),
    ),
    "returned by a function of the module": (
        FILL + "y = cls.same(t)\nz = R.add(y, y)",
        set(),
    ),
    "a condition in a function of the module": (
        'v = R.vm.alloc_tensor(s, 0, R.shape([]), "bool")\n_ = cls.asks(v)',
        {UNWRITTEN},
    ),
    "added to what was not written": ("_ = cls.more(t)", {UNWRITTEN}),
    "a part of what was not written": ("_ = cls.rows(t, u)", {UNWRITTEN}),
    "written by parts": (FILL + "_ = cls.rows(t, u)\ny = R.add(u, u)", set()),
    "offset in a variable": (
        FILL
        + 'k = R.prim_value(8)\nv = R.vm.alloc_tensor(s, k, R.shape([4]), "float32")\n'
        + "_ = cls.fill(v)\ny = R.add(t, t)",
        {OVERLAP},
    ),
    "shape in a variable": (
        'k = R.shape([5])\nv = R.vm.alloc_tensor(s, 16, k, "float32")\n_ = cls.fill(t)',
        {FITS},
    ),
    "in one call": (
        FILL + 'v = R.vm.alloc_tensor(s, 12, R.shape([4]), "float32")\n_ = cls.copy(t, v)',
        {OVERLAP},
    ),
    "one tensor twice in one call": (FILL + "_ = cls.copy(t, t)", {"USE-aliased-apart"}),
    "a cache copies what it is given": (
        FILL
        + "w = R.call_packed('vm.builtin.attention_kv_cache_append', x, t, sinfo_args=R.Object)\n"
        + "_ = R.vm.kill_object(s)",
        set(),
    ),
    "a new cache copies what it is given": (
        FILL
        + "w = R.call_packed('vm.builtin.attention_kv_cache_create', t, R.shape([4]), 0, sinfo_args=R.Object)\n"
        + 'v = R.vm.alloc_tensor(s, 0, R.shape([4]), "float32")\n_ = cls.fill(v)\ny = (w, w)',
        set(),
    ),
    "a result from outside may lie elsewhere": (
        FILL
        + "w = R.call_packed('f', t, sinfo_args=R.Tensor((4,), 'float32'))\n"
        + 'v = R.vm.alloc_tensor(s, 0, R.shape([4]), "float32")\n_ = cls.fill(v)\ny = R.add(w, w)',
        {OVERLAP},
    ),
}
SLOTS = """
h = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (R.prim_value(2),), sinfo_args=R.Tensor(dtype="int64", ndim=1))
_ = R.call_packed("vm.builtin.match_shape", x, h, 1, 1, 0, sinfo_args=R.Tuple())
_ = cls.twice(h)
z = R.call_packed("vm.builtin.make_shape", h, 1, 1, 0, sinfo_args=R.Shape(ndim=1))
p = R.call_packed("vm.builtin.make_prim_value", h, 1, 1, sinfo_args=R.Prim("int64"))
o = R.call_packed("vm.builtin.make_shape", h, 2, 0, 2, 1, 1, sinfo_args=R.Shape(ndim=2))
g = R.vm.alloc_storage(o, 0, "uint8", "global")
a = R.vm.alloc_tensor(g, 0, z, "float32")
b = R.vm.alloc_tensor(g, p, z, "float32")
_ = cls.of(a)
_ = cls.of(b)
y = R.add(a, b)
"""


def diagnostics(body: str, noalias: bool = True) -> tuple[Diagnostic, ...]:
    """The diagnostics of a body."""
    text = PROGRAM.replace("NOALIAS", str(noalias))
    lines = [*body.strip().splitlines(), "return R.tuple()"]
    return tuple(check_text(text.replace("BODY", "\n        ".join(lines))).diagnostics)


def found(body: str, noalias: bool = True) -> dict[str, set[str]]:
    """The codes about memory, by severity."""
    report: dict[str, set[str]] = {"error": set(), "warning": set()}
    for each in diagnostics(body, noalias):
        if each.severity != "note":
            report[each.severity].add(each.code)
    return report


@pytest.mark.parametrize("name", CASES)
def test_memory_is_followed(name: str) -> None:
    body, codes = CASES[name]
    report = found(body)
    assert report["error"] | report["warning"] == codes, report


def test_without_noalias_a_call_over_itself_is_a_warning() -> None:
    body = FILL + 'v = R.vm.alloc_tensor(s, 12, R.shape([4]), "float32")\n_ = cls.copy(t, v)'
    assert found(body) == {"error": {OVERLAP}, "warning": set()}
    assert found(body, noalias=False) == {"error": set(), "warning": {OVERLAP}}


def test_an_overlap_for_some_sizes_is_a_warning() -> None:
    laid = 'w = R.vm.alloc_storage(R.shape([n * 4 + 64]), 0, "uint8", "global")\n'
    laid += 'a = R.vm.alloc_tensor(w, 0, R.shape([4]), "float32")\n'
    laid += 'b = R.vm.alloc_tensor(w, n * 4, R.shape([4]), "float32")\n_ = cls.fill(a)\n'
    assert found(laid + "_ = cls.copy(a, b)") == {"error": set(), "warning": {OVERLAP}}


def test_a_call_over_itself_is_told_of_the_call() -> None:
    body = FILL + 'v = R.vm.alloc_tensor(s, 12, R.shape([4]), "float32")\n_ = cls.copy(t, v)'
    (found_one,) = [d for d in diagnostics(body) if d.code == OVERLAP]
    assert found_one.message == "the call writes v to memory in which it also reads t"
    assert [label.message for label in found_one.related] == ["it is allocated here"]


def test_what_an_external_function_gives_is_at_most_a_warning() -> None:
    report = found(CASES["a result from outside may lie elsewhere"][0])
    assert report == {"error": set(), "warning": {OVERLAP}}


def with_slots(
    old: str = "", new: str = "", computed: str = "H[0] * T.int64(4)", buffers: str = "H"
) -> set[str]:
    """The diagnostics of sizes and offsets that come from a heap."""
    functions = """
    @T.prim_func(private=True)
    def twice(BUFFERS):
        H[1] = COMPUTED
    @T.prim_func(private=True)
    def of(A: T.handle):
        k = T.int64()
        a = T.match_buffer(A, (k,), "float32")
        for i in range(k):
            a[i] = T.float32(1)
"""
    heads = ", ".join(f'{name}: T.Buffer((2,), "int64")' for name in buffers.split(", "))
    functions = functions.replace("COMPUTED", computed).replace("BUFFERS", heads)
    text = PROGRAM.replace("NOALIAS", "True").replace("class M:\n", f"class M:{functions}", 1)
    body = FILL + "_ = cls.fill(u)" + SLOTS.replace(old, new) if old else FILL + SLOTS
    lines = [*body.strip().splitlines(), "return R.tuple()"]
    text = text.replace("BODY", "\n        ".join(lines))
    return {d.code for d in check_text(text).diagnostics if d.code.startswith("MEM-")}


def test_numbers_are_followed_through_slots() -> None:
    assert with_slots() == set()
    assert with_slots("h, 2, 0, 2, 1, 1, sinfo", "h, 2, 0, 1, 1, 1, sinfo") == {FITS}
    assert with_slots("alloc_tensor(g, p, z", "alloc_tensor(g, 4, z") == {OVERLAP, FITS}
    assert with_slots('make_prim_value", h, 1, 1', 'make_prim_value", h, 1, 0') == {OVERLAP}
    assert with_slots("g, p, z", "g, p, o") == {FITS}


def test_a_heap_may_be_matched_against_another_one() -> None:
    check = 'R.call_packed("vm.builtin.check_tensor_info", h, 1, R.dtype("int64"), sinfo_args=R.Tuple())'
    match = 'R.call_packed("vm.builtin.match_shape", h, g0, 1, 1, 0, sinfo_args=R.Tuple())'
    heap = 'g0 = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (R.prim_value(1),), sinfo_args=R.Tensor(dtype="int64", ndim=1))'
    first = '_ = R.call_packed("vm.builtin.match_shape", x,'
    assert with_slots(first, f"_ = {check}\n{heap}\n_ = {match}\n{first}") == set()
    unread = with_slots(
        first, f"_ = {check}\n{heap}\n_ = {match}\n{first}".replace("1, 1, 0", "1, 2, 0")
    )
    assert unread == set()
    stored = '_ = R.call_packed("vm.builtin.match_shape", x, h, 1, 1, 0'
    other = f"_ = {check}\n{heap}\n_ = {match}\n" + stored.replace("1, 1, 0", "1, 2, 0")
    assert with_slots(stored, other) == {"MEM-heap-stored"}


def test_an_element_of_another_buffer_is_no_slot() -> None:
    assert with_slots(computed="H[0] * T.int64(2)") == {OVERLAP, FITS}
    call = "_ = cls.twice(h)"
    made = 'd = R.builtin.alloc_tensor(R.shape([2]), "int64", 0)\n_ = R.call_packed("f", d, sinfo_args=R.Tuple())\n'
    given = f"{made}_ = cls.twice(h, d)"
    assert with_slots(call, given, "B[0] * T.int64(2)", "H, B") == set()


HOLDERS = """
    @R.function(private=True, pure=False)
    def handed(p: R.Tensor((4,), "float32"), q: R.Tensor((4,), "float32")):
        _ = R.call_packed("f", p, sinfo_args=R.Tuple())
        return q
"""
HELD = {
    "y = R.add(t, t)": False,
    "_ = cls.fill(t)": False,
    "y = cls.same(t)": False,
    "_ = R.call_packed('vm.builtin.attention_kv_cache_append', y0, t, sinfo_args=R.Object)": False,
    "_ = R.call_packed('vm.builtin.check_tensor_info', t, 1, sinfo_args=R.Tuple())": False,
    "_ = R.call_packed('f', t, sinfo_args=R.Tuple())": True,
    "_ = R.call_packed('f', (y0, (t,)), sinfo_args=R.Tuple())": True,
    "_ = R.call_packed('f', s, sinfo_args=R.Tuple())": True,
    "_ = cls.handed(t, y0)": True,
    "_ = hook(t)": True,
}


@pytest.mark.parametrize("call", HELD)
def test_what_others_may_hold_is_not_killed_here(call: str) -> None:
    """A program that kills anything must kill all that nothing else can hold."""
    text = PROGRAM.replace("NOALIAS", "True").replace("class M:\n", f"class M:{HOLDERS}", 1)
    text = text.replace(
        'c: R.Prim("bool")):\n        n', 'c: R.Prim("bool"), hook: R.Callable):\n        n'
    )
    other = "o = R.vm.alloc_storage(R.shape([32]), 0, 'uint8', 'global')"
    lines = [other, "_ = R.vm.kill_object(o)", "y0 = R.ones((4,), 'float32')", FILL.strip(), call]
    text = text.replace("BODY", "\n        ".join([*lines, "return R.tuple()"]))
    report = [d for d in check_text(text).diagnostics if d.severity != "note"]
    assert {d.code for d in report} == (set() if HELD[call] else {"MEM-leak-killed"}), report


@pytest.mark.parametrize("lanes", ["", "x2", "x3"])
@pytest.mark.parametrize(
    "kind",
    ["bool", *(f"{code}{bits}" for code in ("int", "uint") for bits in (1, 4, 8, 16, 32, 64))],
)
def test_a_tensor_has_the_bytes_that_hold_its_bits(kind: str, lanes: str) -> None:
    name = f"{kind}{lanes}"
    bits = dtype(name).bits * dtype(name).lanes
    size = KnownValues().size(ast.ShapeExpr((tir.IntImm(3), tir.IntImm(5))), dtype(name))
    assert size is not None and evaluate(size, {}) == 15 * math.ceil(bits / 8)


def test_the_bytes_of_a_tensor_without_a_type_are_not_known() -> None:
    assert KnownValues().size(ast.ShapeExpr(()), dtype("void")) is None
