"""VDEV: where tensors are."""

from __future__ import annotations

from rlx.checker.derive import propagate_vdevices
from rlx.grammar.nodes import ast
from rlx.grammar.print.printer import show

from .programs import Derived, module

INFOS = 'I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("cuda", 0)]})'
LOCAL, REMOTE = 'R.Tensor((4,), "float32", "llvm:0")', 'R.Tensor((4,), "float32", "cuda:0")'
ANY = 'R.Tensor((4,), "float32")'


def placed(function: str, infos: str = INFOS) -> tuple[Derived, dict[str, str], list[str]]:
    """The program, devices by variable, and the codes of what propagation reports."""
    derived = module(infos, function)
    placement = propagate_vdevices(derived.module, derived.derivation)
    where = {
        node.name_hint: show(info.vdevice)
        for node, info in {**derived.derivation.info, **placement.info}.items()
        if isinstance(node, ast.Var)
        and isinstance(info, ast.TensorStructInfo)
        and info.vdevice is not None
    }
    return derived, where, [d.code for d in placement.diagnostics]


def test_an_argument_places_results_and_other_arguments() -> None:
    derived, where, codes = placed(
        f"""
        @R.function
        def main(x: {REMOTE}, y: {ANY}, z: {ANY}) -> {ANY}:
            a = R.add(y, z)
            b = R.multiply(a, x)
            c = R.concat((b, z), axis=0)
            return b
        """
    )
    assert codes == []
    assert derived.codes == []
    assert set(where) == set("xyzabc")
    assert len(set(where.values())) == 1


def test_a_result_places_the_body_through_branches() -> None:
    derived, where, codes = placed(
        f"""
        @R.function
        def main(x: {ANY}, c: R.Tensor((), "bool")) -> {LOCAL}:
            if c:
                y = R.exp(x)
            else:
                y = R.match_cast(x, {ANY})
            return y
        """
    )
    assert codes == []
    assert derived.codes == []
    assert {"x", "y"} <= set(where)
    assert "c" not in where


def test_branches_on_two_devices_place_nothing() -> None:
    def branches(result: str, there: str) -> tuple[dict[str, str], list[str]]:
        _, where, codes = placed(
            f"""
            @R.function
            def main(x: {LOCAL}, y: {there}, c: R.Tensor((), "bool")) -> {result}:
                if c:
                    if c:
                        z = R.exp(x)
                    else:
                        z = R.exp(y)
                    w = z
                else:
                    w = R.exp(x)
                return w
            """
        )
        return where, codes

    # The least upper bound of the two has no device, and is as good as any tensor.
    where, codes = branches(ANY, REMOTE)
    assert codes == [] and not {"z", "w"} & set(where)
    where, codes = branches(ANY, LOCAL)
    assert codes == [] and where["z"] == where["w"] == where["x"]
    assert branches(LOCAL, REMOTE)[1] == ["VDEV-propagate-agree"]


def test_ledger_47_a_transfer_leaves_its_argument_where_it_is() -> None:
    # By the letter the argument of to_vdevice would have to be on the device it is copied to.
    _, where, codes = placed(
        f"""
        @R.function
        def main(x: {LOCAL}) -> {REMOTE}:
            y = R.to_vdevice(x, "cuda:0")
            z = R.exp(y)
            return z
        """
    )
    assert codes == []
    assert where["x"] != where["y"] == where["z"]


def test_two_devices_at_once() -> None:
    derived, _, codes = placed(
        f"""
        @R.function
        def main(x: {LOCAL}, y: {REMOTE}) -> {ANY}:
            a = R.exp(x)
            b = R.exp(y)
            return R.add(a, b)
        """
    )
    assert derived.codes == ["error OBL-place-vdevice"]
    assert codes == []


def test_a_result_on_another_device() -> None:
    _, _, codes = placed(
        f"""
        @R.function
        def main(x: {ANY}, y: {LOCAL}) -> {REMOTE}:
            a = R.add(x, y)
            b = R.exp(x)
            return b
        """
    )
    assert codes == ["VDEV-propagate-agree"]


def test_a_module_without_devices_is_left_alone() -> None:
    derived = module(f"@R.function\ndef main(x: {ANY}) -> {ANY}:\n    return x")
    assert propagate_vdevices(derived.module, derived.derivation).info == {}


CALLED = f"""
        @R.function(private=True)
        def g(a: {REMOTE}) -> {REMOTE}:
            return a
"""


def test_an_argument_that_nothing_places_is_warned_of() -> None:
    for given, expected in (
        (ANY, [("D14-argument", "warning")]),
        (REMOTE, []),
        (LOCAL, [("D14-argument", "error")]),
    ):
        derived = module(
            INFOS,
            CALLED,
            f"""
            @R.function
            def main(x: {given}) -> R.Object:
                b = R.exp(x)
                c = cls.g(b)
                return c
            """,
        )
        placement = propagate_vdevices(derived.module, derived.derivation)
        found = [*derived.derivation.diagnostics, *placement.diagnostics]
        assert [(d.code, d.severity) for d in found] == expected


def test_a_place_that_propagation_finds_is_compared() -> None:
    derived = module(
        INFOS,
        CALLED,
        f"""
        @R.function
        def main(x: {ANY}, y: {LOCAL}) -> R.Object:
            b = R.exp(x)
            c = cls.g(b)
            d = R.add(x, y)
            return (c, d)
        """,
    )
    assert derived.codes == []
    placement = propagate_vdevices(derived.module, derived.derivation)
    assert [(d.code, d.severity) for d in placement.diagnostics] == [("D14-argument", "error")]


def test_one_device_mistake_is_one_error() -> None:
    for text in (
        f"def main(x: {LOCAL}) -> {REMOTE}:\n    y = R.add(x, x)\n    return y",
        f"def main(x: {LOCAL}, z: {REMOTE}) -> {REMOTE}:\n    y = R.add(x, z)\n    return y",
        f"def main(x: {LOCAL}) -> {LOCAL}:\n    y: {REMOTE} = R.add(x, x)\n    return y",
    ):
        derived = module(INFOS, f"@R.function\n{text}")
        placement = propagate_vdevices(derived.module, derived.derivation)
        found = [*derived.derivation.diagnostics, *placement.diagnostics]
        assert [d.severity for d in found] == ["error"], found


def test_a_hint_moves_to_a_device_of_the_module() -> None:
    for device, expected in (
        ("R.device(2, 0)", "cuda:0:global"),
        ("R.cuda(0)", "cuda:0:global"),
        ("R.cpu(0)", "llvm:0:global"),
        ("R.cpu(7)", None),
    ):
        _, where, codes = placed(
            f"""
            @R.function
            def main(x: {ANY}) -> {ANY}:
                y = R.hint_on_device(x, {device})
                return y
            """
        )
        assert codes == []
        assert where.get("y") == expected


def test_a_transfer_goes_to_a_device_of_the_module() -> None:
    for device, expected in (
        ('"cuda:0"', []),
        ('"cuda:3"', ["error OBL-vdevice-declared"]),
        ("3", ["error OBL-vdevice-kind"]),
    ):
        derived = module(
            INFOS,
            f"""
            @R.function
            def main(x: {ANY}) -> R.Object:
                y = R.to_vdevice(x, {device})
                return y
            """,
        )
        assert derived.codes == expected
