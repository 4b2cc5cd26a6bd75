"""Mistakes planted into a lowered program: each is found, and the program without them has none."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text

PROGRAM = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def fill(a: T.Buffer((4,), "float32")):
        for i in range(4):
            a[i] = T.float32(1)
    @T.prim_func(private=True)
    def copy(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            b[i] = a[i]
    @T.prim_func(private=True)
    def sizes(H: T.Buffer((3,), "int64")):
        H[2] = H[0] * H[1]
    @R.function
    def main(x: R.Tensor(ndim=2, dtype="float32"), c: R.Prim("bool")):
        R.func_attr({"relax.force_pure": True})
        cls = M
        heap = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (R.prim_value(3),), sinfo_args=R.Tensor(dtype="int64", ndim=1))
        m = R.call_packed("vm.builtin.match_shape", x, heap, 2, 1, 0, 1, 1, sinfo_args=R.Tuple())
        h = cls.sizes(heap)
        n = R.call_packed("vm.builtin.make_shape", heap, 2, 1, 2, 1, 0, sinfo_args=R.Shape(ndim=2))
        s = R.vm.alloc_storage(R.shape([32]), 0, "uint8", "global")
        t = R.vm.alloc_tensor(s, 0, R.shape([4]), "float32")
        f = cls.fill(t)
        u = R.vm.alloc_tensor(s, 16, R.shape([4]), "float32")
        g = cls.copy(t, u)
        k = R.vm.kill_object(t)
        v = R.vm.alloc_tensor(s, 0, R.shape([4]), "float32")
        j = cls.copy(u, v)
        q = R.add(v, u)
        e = R.vm.kill_object(v)
        l = R.vm.kill_object(u)
        o = R.vm.kill_object(s)
        return (q, n)
"""

PLANTED = {
    "used after it was killed": ("q = R.add(v, u)", "q = R.add(v, t)", "MEM-alive-used"),
    "killed before its last use": (
        "j = cls.copy(u, v)",
        "w = R.vm.kill_object(u)\n        j = cls.copy(u, v)",
        "MEM-alive-used",
    ),
    "a killed piece of memory": (
        "v = R.vm.alloc_tensor",
        "w = R.vm.kill_object(s)\n        v = R.vm.alloc_tensor",
        "MEM-alive-used",
    ),
    "killed twice": ("e = R.vm.kill_object(v)", "e = R.vm.kill_object(t)", "MEM-kill-once"),
    "a piece of memory killed twice": (
        "return (q, n)",
        "w = R.vm.kill_object(s)\n        return (q, n)",
        "MEM-kill-once",
    ),
    "killed in a branch, and then": (
        "q = R.add(v, u)",
        "if c:\n            w = R.vm.kill_object(u)\n            b = v\n        else:\n            b = v\n        q = R.add(v, u)",
        "MEM-alive-used",
    ),
    "returned after it was killed": ("return (q, n)", "return (v, n)", "MEM-alive-used"),
    "tensors that overlap": ("s, 16, R.shape", "s, 12, R.shape", "MEM-apart-overlap"),
    "one inside of the other": ("s, 16, R.shape", "s, 0, R.shape", "MEM-apart-overlap"),
    "reused too early": (
        'k = R.vm.kill_object(t)\n        v = R.vm.alloc_tensor(s, 0, R.shape([4]), "float32")\n        j = cls.copy(u, v)\n        q = R.add(v, u)',
        'v = R.vm.alloc_tensor(s, 0, R.shape([4]), "float32")\n        j = cls.copy(u, v)\n        q = R.add(v, t)\n        k = R.vm.kill_object(t)',
        "MEM-apart-overlap",
    ),
    "behind the end": ("s, 16, R.shape", "s, 20, R.shape", "MEM-fits-end"),
    "too small a piece": ("R.shape([32])", "R.shape([31])", "MEM-fits-end"),
    "elements too wide": (
        'u = R.vm.alloc_tensor(s, 16, R.shape([4]), "float32")',
        'u = R.vm.alloc_tensor(s, 16, R.shape([4]), "float64")',
        "MEM-fits-end",
    ),
    "in front of the memory": ("s, 16, R.shape", "s, -4, R.shape", "MEM-fits-start"),
    "a match of another rank": (
        "heap, 2, 1, 0, 1, 1,",
        "heap, 3, 1, 0, 1, 1, 2, 0,",
        "MEM-check-passes",
    ),
    "a match with too few codes": ("heap, 2, 1, 0, 1, 1,", "heap, 2, 1, 0,", "MEM-check-form"),
    "a shape with a code that is none": ("2, 1, 2, 1, 0", "2, 1, 2, 4, 0", "MEM-check-form"),
    "a heap that the PrimFunc does not take": (
        "(R.prim_value(3),)",
        "(R.prim_value(4),)",
        "MEM-kernel-fits",
    ),
    "never written": ("f = cls.fill(t)", "f = n", "MEM-written-before"),
    "written too late": ("f = cls.fill(t)\n        u", "u", "MEM-written-before"),
    "the wrong argument written": (
        "g = cls.copy(t, u)",
        "g = cls.copy(u, t)",
        "MEM-written-before",
    ),
    "memory that is left": (
        "l = R.vm.kill_object(u)",
        'l = R.vm.kill_object(u)\n        w = R.vm.alloc_storage(R.shape([8]), 0, "uint8", "global")',
        "MEM-leak-killed",
    ),
    "a place that is not stored": ("h = cls.sizes(heap)\n", "", "MEM-heap-stored"),
    "computed before it is matched": (
        'm = R.call_packed("vm.builtin.match_shape", x, heap, 2, 1, 0, 1, 1, sinfo_args=R.Tuple())\n        h = cls.sizes(heap)',
        'h = cls.sizes(heap)\n        m = R.call_packed("vm.builtin.match_shape", x, heap, 2, 1, 0, 1, 1, sinfo_args=R.Tuple())',
        "MEM-heap-stored",
    ),
    "stored on one way only": (
        "h = cls.sizes(heap)",
        "if c:\n            w = cls.sizes(heap)\n            b = x\n        else:\n            b = x",
        "MEM-heap-stored",
    ),
    "a place that the heap has not": ("2, 1, 2, 1, 0", "2, 1, 3, 1, 0", "MEM-heap-place"),
    "a tensor in place of a heap": ("heap, 2, 1, 2", "x, 2, 1, 2", "MEM-heap-made"),
    "a tuple in place of a heap": ("heap, 2, 1, 2", "m, 2, 1, 2", "MEM-heap-made"),
    "laid into a tensor": ("alloc_tensor(s, 16", "alloc_tensor(t, 16", "MEM-fits-memory"),
    "a piece of memory passed": ("g = cls.copy(t, u)", "g = cls.copy(s, u)", "MEM-kernel-fits"),
    "stored behind the heap": ("heap, 2, 1, 0, 1, 1,", "heap, 2, 1, 0, 1, 7,", "MEM-heap-place"),
}


def codes(text: str) -> set[str]:
    """The errors and warnings of a program."""
    return {d.code for d in check_text(text).diagnostics if d.severity != "note"}


def test_the_program_is_clean() -> None:
    assert codes(PROGRAM) == set()


@pytest.mark.parametrize("name", PLANTED)
def test_the_mistake_is_found(name: str) -> None:
    old, new, code = PLANTED[name]
    assert PROGRAM.count(old) >= 1
    assert code in codes(PROGRAM.replace(old, new, 1))


@pytest.mark.parametrize(("name", "severity"), [("x", "error"), ("y", "warning")])
def test_a_wider_annotation_excuses_the_checks_of_that_name_alone(name: str, severity: str) -> None:
    check = f'R.call_packed("vm.builtin.match_shape", {name}, heap, 3, 1, 0, 1, 1, 2, 0, sinfo_args=R.Tuple())'
    planted = PROGRAM.replace(
        "h = cls.sizes(heap)", f"y: R.Object = x\n        w = {check}\n        h = cls.sizes(heap)"
    )
    found = check_text(planted).diagnostics
    assert [d.severity for d in found if d.code == "MEM-check-passes"] == [severity]
