"""D18, D19: a dimension is a function of a value, whatever its name; and no tensor has more elements than int64 counts."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text

MISMATCH = "warning OBL-broadcast-dims"


def said(body: str, pure: bool = False) -> list[str]:
    """The diagnostics of a function with these statements, which bind `z`."""
    text = (
        f"@R.function(pure={pure})\ndef main(A: R.Tensor('float32', ndim=1), B: R.Tensor('float32', ndim=1), O: R.Object,"
        " P: R.Tuple(R.Tensor('float32', ndim=1), R.Tensor('float32', ndim=1)), k: R.Prim('int64'), c: R.Prim('bool')):\n"
        f"    m = T.int64()\n    p = T.int64()\n    {body}\n    return z\n"
    )
    report = check_text(text)
    return [f"{d.severity} {d.code}" for d in report.diagnostics if d.severity != "note"]


TWICE = (
    "{before}x = R.match_cast({one}, R.Tensor((m,), 'float32'))\n"
    "    y = R.match_cast({other}, R.Tensor((p,), 'float32'))\n    z = R.add(x, y)"
)
NAMES = {
    "itself": ("", "A", "A"),
    "another name": ("C = A\n    ", "A", "C"),
    "two other names": ("C = A\n    D = C\n    ", "C", "D"),
    "what was cast": ("", "A", "x"),
    "an object": ("", "O", "O"),
    "a field of a parameter": ("", "P[0]", "P[0]"),
    "a named field": ("a = P[1]\n    b = P[1]\n    ", "a", "b"),
    "a field of a tuple": ("t = (B, A)\n    ", "A", "t[1]"),
    "fields of two tuples": ("t = (B, A)\n    u = (A, t)\n    ", "u[0]", "t[1]"),
    "a field of a field": ("t = (B, A)\n    u = (A, t)\n    w = u[1]\n    ", "A", "w[1]"),
}
OTHERS = {
    "another parameter": ("", "A", "B"),
    "another field": ("", "P[0]", "P[1]"),
    "a copy": ("C = R.exp(A)\n    D = R.unique(A)\n    ", "C", "D"),
    "a branch": ("if c:\n        C = A\n    else:\n        C = B\n    ", "A", "C"),
}


@pytest.mark.parametrize("case", NAMES)
def test_one_value_has_one_shape(case: str) -> None:
    before, one, other = NAMES[case]
    assert said(TWICE.format(before=before, one=one, other=other)) == []


@pytest.mark.parametrize("case", OTHERS)
def test_two_values_have_two(case: str) -> None:
    before, one, other = OTHERS[case]
    assert said(TWICE.format(before=before, one=one, other=other)) == [MISMATCH]


KNOWN = {
    "the value that was cast": "x = R.match_cast(A, R.Tensor((m,), 'float32'))\n    z: R.Tensor((m,), 'float32') = R.exp(A)",
    "a tuple that was cast": (
        "t = R.match_cast(P, R.Tuple(R.Tensor((m,), 'float32'), R.Tensor((m,), 'float32')))\n    z: R.Tensor((m,), 'float32') = R.add(P[0], P[1])"
    ),
    "a tuple of what was cast": (
        "t = (A, B)\n    x = R.match_cast(A, R.Tensor((m,), 'float32'))\n    z: R.Tuple(R.Tensor((m,), 'float32'), R.Tensor) = t"
    ),
    "the shape": "s = R.match_cast(R.shape_of(A), R.Shape([m]))\n    z: R.Tensor((m,), 'float32') = R.exp(A)",
    "the tensor of a shape": "s = R.shape_of(A)\n    x = R.match_cast(A, R.Tensor((m,), 'float32'))\n    z: R.Shape([m]) = s",
    "another shape": "s = R.shape_of(A)\n    t = R.shape_of(A)\n    x = R.match_cast(s, R.Shape([m]))\n    z: R.Shape([m]) = t",
    "a tuple that holds it twice": (
        "t = (A, A)\n    x = R.match_cast(t, R.Tuple(R.Tensor((m,), 'float32'), R.Tensor((p,), 'float32')))\n    z: R.Tensor((p,), 'float32') = x[0]"
    ),
    "a tuple in a tuple": (
        "t = (B, (A, A))\n    x = R.match_cast(t, R.Tuple(R.Object, R.Tuple(R.Tensor((m,), 'float32'), R.Tensor((p,), 'float32'))))\n"
        "    z: R.Tensor((p,), 'float32') = A"
    ),
    "an object that is a tuple": (
        "t: R.Object = (A, B)\n    x = R.match_cast(t, R.Tuple(R.Tensor((m,), 'float32'), R.Object))\n    z: R.Tensor((m,), 'float32') = R.exp(A)"
    ),
    "a scalar": "x = R.match_cast(k, R.Prim(value=m))\n    z: R.Prim(value=m) = k",
    "in a closure": (
        "x = R.match_cast(A, R.Tensor((m,), 'float32'))\n    @R.function\n    def f() -> R.Tensor((m,), 'float32'):\n        return A\n    z = f()"
    ),
    "an assertion": (
        "x = R.match_cast(A, R.Tensor((m,), 'float32'))\n    y = R.match_cast(B, R.Tensor((p,), 'float32'))\n"
        "    _ = R.assert_op(R.prim_value(m == p))\n    z = R.add(x, y)"
    ),
    "a named condition": (
        "x = R.match_cast(A, R.Tensor((m,), 'float32'))\n    y = R.match_cast(B, R.Tensor((p,), 'float32'))\n"
        "    e = R.prim_value(m == p)\n    _ = R.assert_op(e)\n    z = R.add(x, y)"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", KNOWN)
def test_what_a_check_says_is_known_behind_it(case: str) -> None:
    assert said(KNOWN[case]) == []


def test_a_shape_comes_back_from_a_tensor() -> None:
    body = (
        "s = R.shape_of(A)\n    t = R.shape_to_tensor(s)\n    u = R.tensor_to_shape(t)\n    v = R.match_cast(u, R.Shape([m]))\n"
        "    z: R.Tensor((m,), 'float32') = R.exp(A)"
    )
    assert said(body, pure=True) == []
    # In an impure function the elements of `t` may have been changed.
    assert said(body) == ["warning D11-annotation"]


NOT_KNOWN = {
    "behind the branch": (
        "if c:\n        x = R.match_cast(A, R.Tensor((4,), 'float32'))\n        w = x\n    else:\n        w = R.exp(B)\n"
        "    z: R.Tensor((4,), 'float32') = A"
    ),
    "in the other branch": (
        "if c:\n        x = R.match_cast(A, R.Tensor((4,), 'float32'))\n        z = x\n    else:\n"
        "        w: R.Tensor((4,), 'float32') = A\n        z = w"
    ),
    "before": "y: R.Tensor((4,), 'float32') = A\n    z = R.match_cast(A, R.Tensor((4,), 'float32'))",
    "outside of a closure": (
        "@R.function\n    def f() -> R.Tensor((4,), 'float32'):\n        x = R.match_cast(A, R.Tensor((4,), 'float32'))\n        return x\n"
        "    w = f()\n    z: R.Tensor((4,), 'float32') = A"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", NOT_KNOWN)
def test_what_a_check_says_is_not_known_elsewhere(case: str) -> None:
    assert said(NOT_KNOWN[case]) == ["warning D11-annotation"]


COUNTS = {
    "2**32, 2**31 - 1": [],
    "2**32, 2**31": ["error D19-count"],
    "m, 2**32, 2**32": ["error D19-count"],
    "m * 2**32, 2**32": ["error D19-count"],
    "m // 2, 2**32, 2**32": [],
    "2**32, 2**32, 0": [],
}


@pytest.mark.parametrize("shape", COUNTS)
def test_numbers_of_elements(shape: str) -> None:
    dims = (
        shape.replace("2**32", str(2**32))
        .replace("2**31 - 1", str(2**31 - 1))
        .replace("2**31", str(2**31))
    )
    body = f"x = R.match_cast(A, R.Tensor((m,), 'float32'))\n    y = R.zeros(R.shape([{dims}]), 'float32')\n    z = R.exp(y)"
    assert said(body) == COUNTS[shape]


def test_no_dimension_is_beyond_int64() -> None:
    """The two shapes differ for `m = 2**63` only."""
    body = (
        "x = R.match_cast(A, R.Tensor((m,), 'float32'))\n"
        f"    z = R.reshape(x, R.shape([m - m // {2**63 - 1} // 2]))"
    )
    assert said(body) == []


@pytest.mark.parametrize(
    ("dim", "codes"),
    [
        (f"m + {2**63 - 1}", ["error D19-dimension"]),
        (f"m * {2**63 - 1}", []),
        (f"m * 2 * {2**62}", ["error D19-dimension"]),
        (f"m // 2 + {2**63 - 1}", []),
        (" * ".join([str(2**62)] * 300), ["error D19-dimension"]),  # 5,600 digits
    ],
)
def test_a_dimension_that_is_never_of_64_bits(dim: str, codes: list[str]) -> None:
    assert (
        said(f"x = R.match_cast(A, R.Tensor((m,), 'float32'))\n    z = R.shape([{dim}])") == codes
    )
