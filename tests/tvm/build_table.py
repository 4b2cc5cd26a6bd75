"""The result of TVM's build for each operator: `python -m tests.tvm.build_table FOLDER` asks it,
and writes `rlx/tvm/built_0_27.json`.

Each operator is called with legal arguments whose element types are changed, all at once and one by one, and whose shapes are
written as numbers, as variables, as a rank only, or not at all. FOLDER keeps what TVM said.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import version
from itertools import chain, islice
from pathlib import Path
from typing import Any

import tvm_ffi

from rlx.checker.check import check_text
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.tir_exprs import AS_OPERAND
from rlx.grammar.nodes.visit import evaluated
from rlx.tvm.building import signature

from .perturb.bases import bases
from .perturb.calls import Argument, Group, OneCall, TensorArg, write
from .runs import programs
from .will_build import ROOT, Sample, answers, of_text

TYPES = (
    *("float16", "float32", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2"),
    *("int4", "int8", "int16", "int32", "int64", "uint8", "uint32", "bool"),
)
SIZES = {"n": "2", "m": "3", "k": "5"}


def changed(call: OneCall, change: Callable[[TensorArg], TensorArg]) -> OneCall:
    """The call with its tensors changed."""

    def one(argument: Argument) -> Argument:
        if isinstance(argument, Group):
            return Group(tuple(map(one, argument.fields)))
        return change(argument) if isinstance(argument, TensorArg) else argument

    args = tuple(map(one, call.args))
    return replace(call, args=args, attrs=tuple((name, one(a)) for name, a in call.attrs))


def of_type(kind: str) -> Callable[[TensorArg], TensorArg]:
    return lambda tensor: replace(tensor, dtype=kind)


def as_numbers(tensor: TensorArg) -> TensorArg:
    return replace(tensor, dims=tensor.dims and tuple(SIZES.get(d, d) for d in tensor.dims))


def rank_only(tensor: TensorArg) -> TensorArg:
    return replace(tensor, dims=None, ndim=tensor.ndim if tensor.dims is None else len(tensor.dims))


def unknown(tensor: TensorArg) -> TensorArg:
    return replace(tensor, dims=None, ndim=-1)


def asked() -> Iterator[Sample]:
    """The modules: a legal call of each operator and its variants, those that tell most first."""
    first = {base.operator: base for base in reversed(list(bases(1)))}
    variants: list[Callable[[OneCall], OneCall]] = [
        lambda call: call,
        *(lambda call, kind=kind: changed(call, of_type(kind)) for kind in ("int32", "bool")),
        lambda call: changed(call, rank_only),
        *(lambda call, kind=kind: changed(call, of_type(kind)) for kind in TYPES),
        lambda call: changed(call, as_numbers),
        lambda call: changed(call, unknown),
    ]
    for variant in variants:
        for name, base in first.items():
            text = write(variant(base))
            yield from of_text(name, str(text), text.module)


KERNEL = """\
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(a: T.Buffer((4,), "{kind}"), b: T.Buffer((4,), "{kind}"), c: T.Buffer((4,), "{kind}"), d: T.Buffer((4,), "{kind}")):
        for i in range(4):
            with T.sblock("d"):
                v = T.axis.spatial(4, i)
                d[v] = T.{name}({given})
"""
GIVEN = {
    **dict.fromkeys(
        ("atan2", "copysign", "fmod", "hypot", "nextafter", "pow", "power"), "a[v], b[v]"
    ),
    **dict.fromkeys(
        ("shift_left", "shift_right", "bitwise_and", "bitwise_or", "bitwise_xor"), "a[v], b[v]"
    ),
    "ldexp": 'a[v], T.Cast("int32", b[v])',
    "fma": "a[v], b[v], c[v]",
}


def intrinsics() -> Iterator[Sample]:
    """Kernels that apply an intrinsic to floats, or to integers."""
    for name in sorted(AS_OPERAND - {"likely"}):
        for kind in ("float16", "float32", "float64", "int32", "int64"):
            text = KERNEL.format(kind=kind, name=name, given=GIVEN.get(name, "a[v]"))
            yield from of_text(f"T.{name}", kind, text)


def of_runs() -> Iterator[Sample]:
    """The calls of `runs/operators.txt` that stand alone, with attributes of many kinds."""
    for name, program in programs.of_texts("operators").items():
        for sample in of_text("", name, program.text or ""):
            called = re.findall(r" = R\.([\w.]+)\(", sample.text)
            if len(called) == 1:
                yield sample._replace(source=called[0])


def main(folder: Path) -> None:
    """Ask TVM, a few modules at a time, and write the table."""
    found = chain(intrinsics(), of_runs(), asked())
    with (folder / "table.jsonl").open("w") as out:
        while some := list(islice(found, 50)):
            for sample, how, said in answers(some, folder / "tvm.jsonl"):
                out.write(json.dumps([*sample, how, said]) + "\n")
            out.flush()
    write_table(folder)


def write_table(folder: Path) -> None:
    """The table from what TVM said."""
    counts: dict[str, dict[str, dict[str, Counter[tuple[str, str]]]]] = {
        kind: defaultdict(lambda: defaultdict(Counter)) for kind in ("operators", "intrinsics")
    }
    for line in (folder / "table.jsonl").read_text("utf-8").splitlines():
        source, name, text, how, said = json.loads(line)
        reason = (how, shortened(said)) if how != "builds" else ("", "")
        if source.startswith("T."):
            counts["intrinsics"][source[2:]][name.partition("/")[0]][reason] += 1
            continue
        report = check_text(text)
        calls = [
            call
            for function in report.modules[0].functions.values()
            for call in evaluated(function, ast.Call)
            if isinstance(call.op, ast.Op) and call.op.op_name == f"relax.{source}"
        ]
        if calls:
            key = ":".join(signature(calls[0], report.info))
            counts["operators"][source][key][reason] += 1
    reasons = sorted(
        {
            r
            for part in counts.values()
            for of in part.values()
            for c in of.values()
            for r in c
            if r[0]
        }
    )
    number = {("", ""): 0, **{reason: k + 1 for k, reason in enumerate(reasons)}}
    made: dict[str, Any] = {
        "tvm": version("apache-tvm"),
        "reasons": reasons,
        "registered": sorted(
            name for name in tvm_ffi.registry.list_global_func_names() if name.startswith("vm.")
        ),
    }
    for kind, part in counts.items():
        made[kind] = {
            name: {key: number[c.most_common(1)[0][0]] for key, c in sorted(of.items())}
            for name, of in sorted(part.items())
        }
    text = json.dumps(made, indent=0, ensure_ascii=False)
    (ROOT / "rlx" / "tvm" / "built_0_27.json").write_text(text + "\n", encoding="utf-8")


def shortened(said: str) -> str:
    """The sentence of an error, without places in TVM's sources."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"(\w+Error|error)\b", line)]
    text = re.sub(r"^(\w+Error: |error: )+", "", (errors or lines or [""])[-1])
    text = re.sub(r"Check failed: \(.*?\) is false: (?=\S)|ir\.Op\(.*?name=", "", text)
    text = re.sub(r", but received .*|metadata\[.*|, description=.*", "", text)
    return text if len(text) <= 120 else f"{text[:119]}…"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
