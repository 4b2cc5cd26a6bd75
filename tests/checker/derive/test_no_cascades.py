"""One mistake is one error: what follows from it is not reported, what is beside it is."""

from __future__ import annotations

from rlx.checker.check import check_text


def _codes(text: str) -> list[str]:
    return [f"{d.severity} {d.code}" for d in check_text(text).diagnostics]


def test_what_a_wrong_annotation_leads_to() -> None:
    text = (
        '@R.function\ndef main(x: R.Tensor(("n", 8), "int8")) -> R.Tensor(("n", 8), "int8"):\n'
        '    z: R.Tensor((n, 9), "int8") = R.add(x, x)\n    return z\n'
    )
    assert _codes(text) == ["error D11-annotation"]


def test_arguments_of_a_function_with_mistakes_are_checked() -> None:
    text = (
        "@I.ir_module\nclass M:\n    @R.function\n    def f(x: R.Tensor((4,), 'int8')):\n"
        "        t = (x, x)\n        a = t[2]\n        return a\n    @R.function\n    def main():\n"
        "        y = M.f(R.shape([4]))\n        z = R.add(y, y)\n        return z\n"
    )
    assert _codes(text) == ["error D12-index", "error D14-argument"]


def test_an_operator_that_does_not_exist_is_an_error_with_a_suggestion() -> None:
    text = "@R.function\ndef main(x: R.Tensor):\n    y = R.nn.softmx(x)\n    return y\n"
    (found,) = check_text(text).diagnostics
    assert (found.code, found.severity) == ("D14-operator", "error")
    assert found.help == "did you mean `R.nn.softmax`?"
    assert found.edit is not None and found.edit.text == "R.nn.softmax"


def test_what_a_wrong_keyword_leads_to() -> None:
    text = (
        '@R.function\ndef main(x: R.Tensor((4, 8), "float32")):\n    s = R.nn.softmax(x, dim=-1)\n'
        "    r = R.reshape(s, (2, -1))\n    t = R.matmul(r, x)\n    return t\n"
    )
    (found,) = check_text(text).diagnostics
    assert found.span is not None and text[slice(*found.span)] == "dim"
    assert found.help == "did you mean 'axis'?"


def test_a_second_wrong_keyword_behind_a_wrong_value_is_reported() -> None:
    text = (
        '@R.function\ndef main(x: R.Tensor((4, 8), "float32")):\n    s = R.nn.softmax(x, dim=-1)\n'
        "    r = R.sum(s, keepdim=True, dim=1)\n    return r\n"
    )
    spans = [found.span for found in check_text(text).diagnostics]
    assert [text[slice(*span)] for span in spans if span] == ["dim", "keepdim", "dim"]
