"""Texts of calls in which something is other than in a legal one: an operand, an attribute, a name, a PrimFunc."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from random import Random
from typing import NamedTuple

from rlx.operators.evaluate import function
from rlx.operators.foreign_names import _OPERATORS, _PARAMETERS
from rlx.operators.registry import every_name, lookup
from tests.tvm.perturb.bases import bases
from tests.tvm.perturb.calls import Argument, Group, OneCall, OtherArg, TensorArg, Text, write

TYPES = (
    *("float32", "float16", "float64", "bfloat16", "int64", "int32", "int8", "uint8", "bool"),
    *("", "float8_e4m3fn", "uint32", "int4", "handle", "float32x4"),
)
DIMS = ("n", "m", "k", "0", "1", "2", "3", "4", "8", "n * 2", "n + 1", "n - 1", "m // 2", "n * m")
ANNOTATIONS = (
    *("R.Any", "R.Tensor", 'R.Prim("int64")', 'R.Prim("float32")', 'R.Prim("bool")'),
    *('R.Prim(value="n")', "R.Shape", "R.Shape(ndim=2)", 'R.Shape(["n", 4])', 'R.Shape(["k"])'),
    *("R.Tuple", 'R.Tuple(R.Tensor((n, 4), "float32"), R.Tensor((n, 4), "float32"))'),
    *("R.Tuple(R.Any, R.Tensor)", 'R.Tuple(R.Prim("int64"), R.Prim(value="m"))', "R.Tuple()"),
    *("R.Callable", 'R.Callable((R.Tensor,), R.Tensor((n, 4), "float32"), True)'),
)
LITERALS = (
    *("None", "True", "False", "0", "1", "-1", "2", "3", "5", "-2", "2147483648", "1.5", "0.0"),
    *("-0.5", "1e30", '""', '"x"', '"NHWC"', '"NCHW4c"', '"float32"', '"int8"', '"void"', '"add"'),
    *('"sum"', '"constant"', '"reflect"', '"cuda:0"', '"llvm"', "()", "(1,)", "(1, 2)", "[0]"),
    *("[]", "[0, 1]", "[1, 1]", "[-1]", "[0, -3]", "(n, 4)", "(m,)", "n", "n + 1", "n * 2 // 2"),
    *("R.shape([n, 4])", "R.shape([])", "R.shape([2, 3])", 'R.const(1, "int64")', "[None, 1]"),
    *('R.const([0, 3], "int64")', 'R.const(0.5, "float16")', "R.prim_value(2)", "R.prim_value(n)"),
    *(
        'R.str("x")',
        'R.dtype("int8")',
        'R.dtype("")',
        'R.dtype("void")',
        "R.null_value()",
        "sizes",
        "(sizes, sizes)",
        "[0.5, 1]",
    ),
    *("lambda i, j: (j, i)", "lambda i: (i // 4, i % 4)", 'R.device("cpu", 0)', "T.float32(1.5)"),
    *(
        'R.const(2, "int64")',
        'R.const([[0], [1]], "int32")',
        "(R.prim_value(1), 2)",
        "-n",
        "[n, m]",
    ),
)
OUTPUTS = (
    *('R.Tensor((n, 4), "float32")', 'R.Tensor((4, 8), "float32")', 'R.Tensor((n,), "int64")'),
    *(
        'R.Tensor((n + 1, 4), "float32")',
        "R.Tensor((n, 4))",
        "R.Tensor",
        "R.Any",
        "R.Prim('int64')",
    ),
    *('R.Tensor((m, n), "float16")', 'R.Tensor(dtype="float32", ndim=2)', 'R.Shape(["n"])'),
    '[R.Tensor((n, 4), "float32"), R.Tensor((n,), "float32")]',
    'R.Tuple(R.Tensor((n, 4), "float32"), R.Tensor((n, 4), "float32"))',
    '(R.Tensor((n, 4), "float32"),)',
)


@cache
def _bases() -> dict[str, list[OneCall]]:
    found: dict[str, list[OneCall]] = {}
    for call in bases(50):
        found.setdefault(call.operator, []).append(call)
    return found


@cache
def _weights() -> dict[str, int]:
    """How much code an operator has: its rule, and what computes it."""
    found = {}
    for name in _bases():
        operator = lookup(f"relax.{name}")
        functions = (operator.rule, function(name)) if operator is not None else ()
        codes = [getattr(each, "__code__", None) for each in functions]
        found[name] = 60 + sum(len(code.co_code) for code in codes if code is not None)
    return found


def spoiled(random: Random) -> str:
    """The text of a function with one call."""
    weights = _weights()
    (name,) = random.choices([*weights], [*weights.values()])
    call = random.choice(_bases()[name])
    for _ in range(random.choice([0, 1, 1, 1, 2, 2, 3])):
        call = random.choice(CHANGES)(call, random)
    return write(call).module


def _operand(call: OneCall, random: Random) -> OneCall:
    """Another operand: less is known of it, or other things are."""
    places = [(at, old) for at, old in call.places() if isinstance(old, TensorArg | Group)]
    if not places:
        return _kind(call, random)
    at, old = random.choice(places)
    return call.with_argument(at, _other(old, random), "operand")


def _other(old: Argument, random: Random) -> Argument:
    if isinstance(old, Group):
        fields = [*old.fields]
        if fields and random.random() < 0.7:
            chosen = random.randrange(len(fields))
            fields[chosen] = _other(fields[chosen], random)
        elif fields and random.random() < 0.5:
            del fields[random.randrange(len(fields))]
        else:
            fields.append(random.choice([TensorArg(("n", "4"), "float32"), *fields]))
        return Group(tuple(fields))
    if not isinstance(old, TensorArg) or random.random() < 0.1:
        return OtherArg(random.choice(ANNOTATIONS))
    dims = list(old.dims or ())
    match random.randrange(8):
        case 0:
            return replace(old, dims=None, ndim=len(dims) if old.dims is not None else old.ndim)
        case 1:
            return replace(old, dims=None, ndim=random.choice([-1, 0, 1, 2, 3, 4]))
        case 2:
            return replace(old, dtype=random.choice(TYPES))
        case 3:
            dims.insert(random.randint(0, len(dims)), random.choice(DIMS))
        case 4 if dims:
            del dims[random.randrange(len(dims))]
        case 5:
            return replace(old, device=random.choice(["llvm:0", "cuda:0", "cuda:1"]))
        case 6:
            return replace(
                old, by=random.choice(["R.Shape(ndim=2)", 'R.Shape(["n", "4"])', "R.Shape"])
            )
        case _ if dims:
            dims[random.randrange(len(dims))] = random.choice(DIMS)
    return replace(old, dims=tuple(dims))


def _kind(call: OneCall, random: Random) -> OneCall:
    """A value of another kind in the place of an argument."""
    places = [*call.places()]
    if not places:
        return call
    at, _ = random.choice(places)
    value: Argument = Text(random.choice(LITERALS))
    if random.random() < 0.3:
        value = OtherArg(random.choice(ANNOTATIONS))
    return call.with_argument(at, value, "kind")


def _number(call: OneCall, random: Random) -> OneCall:
    """Another number in what is written in the call."""
    places = [
        (at, old.text, spot)
        for at, old in call.places()
        if isinstance(old, Text)
        for spot, letter in enumerate(old.text)
        if letter.isdigit()
    ]
    if not places:
        return _keyword(call, random)
    at, text, spot = random.choice(places)
    made = random.choice(["0", "1", "2", "3", "4", "7", "-1", "-2", "n", "1.5", "m + 1"])
    return call.with_argument(at, Text(text[:spot] + made + text[spot + 1 :]), "number")


def _keyword(call: OneCall, random: Random) -> OneCall:
    """A parameter of the operator is given, or one that it has in another library or nowhere."""
    operator = lookup(f"relax.{call.operator}")
    known = operator.parameters if operator is not None else ()
    own = [each.name for each in known[len(call.args) :]] or ["axis"]
    name = random.choice(own)
    if random.random() < 0.3:
        words = " ".join(_PARAMETERS.get(name, random.choice([*_PARAMETERS.values()]))).split()
        name = random.choice(_PARAMETERS.get(name, "dim").split() or words)
    attrs = tuple(each for each in call.attrs if each[0] != name)
    value: Argument = Text(random.choice(LITERALS))
    if random.random() < 0.2:
        value = TensorArg(tuple(random.choices(DIMS, k=random.randrange(4))), random.choice(TYPES))
    return replace(call, attrs=(*attrs, (name, value)))


def _dropped(call: OneCall, random: Random) -> OneCall:
    if call.attrs and random.random() < 0.5:
        gone = random.randrange(len(call.attrs))
        return replace(call, attrs=call.attrs[:gone] + call.attrs[gone + 1 :])
    if call.args and random.random() < 0.5:
        return replace(call, args=call.args[:-1])
    return replace(call, args=(*call.args, Text(random.choice(LITERALS))))


def _moved(call: OneCall, random: Random) -> OneCall:
    """Two arguments exchanged, or one given the other way."""
    if len(call.args) > 1 and random.random() < 0.5:
        args = [*call.args]
        a, b = random.sample(range(len(args)), 2)
        args[a], args[b] = args[b], args[a]
        return replace(call, args=tuple(args))
    operator = lookup(f"relax.{call.operator}")
    if operator is not None and 0 < len(call.args) <= len(operator.parameters):
        name = operator.parameters[len(call.args) - 1].name
        return replace(call, args=call.args[:-1], attrs=((name, call.args[-1]), *call.attrs))
    return call


def _named(call: OneCall, random: Random) -> OneCall:
    """A name of another library, a slip of the finger, or another operator."""
    if random.random() < 0.6:
        return _operand(call, random)
    return replace(call, operator=strange_name(random, call.operator))


def strange_name(random: Random, name: str) -> str:
    """A name that may be none of an operator."""
    match random.randrange(3):
        case 0:
            words = random.choice([*_OPERATORS.values()]).split()
            return random.choice(["", "nn.", "torch.", "image."]) + random.choice(words)
        case 1:
            at = random.randrange(len(name))
            return name[:at] + random.choice(["", "x", "_", name[at] * 2]) + name[at + 1 :]
    return random.choice(every_name())


def _typed(call: OneCall, random: Random) -> OneCall:
    """Declared results."""
    if random.random() < 0.6:
        return _number(call, random)
    name = random.choice(["out_ty", "ty_args", "sinfo_args", "out_sinfo", "out_dtype"])
    attrs = tuple(each for each in call.attrs if each[0] != name)
    return replace(call, attrs=(*attrs, (name, Text(random.choice(OUTPUTS)))))


Change = Callable[[OneCall, Random], OneCall]
CHANGES: tuple[Change, ...] = (
    *(_operand, _operand, _operand, _kind, _number, _number),
    *(_keyword, _keyword, _dropped, _moved, _named, _typed),
)

BUFFERS = (
    *("(n, 4)", "(m, 4)", "(4, 8)", "(n,)", "(n + 1, 4)", "(n * 2, 4)", "(n, m)", "(p, q)"),
    *("(p, p)", "(p + q, 4)", "(p * 2, 4)", "()", "(1, n, 4)", "(2, 4)", "(p // 2, 4)"),
)
TENSORS = (
    *('R.Tensor((n, 4), "float32")', 'R.Tensor((n, 4), "float32")', 'R.Tensor((m, 4), "float32")'),
    *('R.Tensor((4, 8), "float32")', 'R.Tensor((n, 4), "float16")', "R.Tensor((n, 4))"),
    *(
        'R.Tensor((n + 1, 4), "float32")',
        'R.Tensor(dtype="float32", ndim=2)',
        'R.Tensor("float32")',
    ),
    *(
        'R.Tensor((n,), "float32")',
        'R.Tensor((n * 2, 4), "float32")',
        'R.Tensor((n, n), "float32")',
    ),
    *('R.Tensor((7, 4), "float32")', 'R.Tensor((n * 2 + 1, 4), "float32")'),
    *('R.Tensor((), "float32")', 'R.Tensor((6, 4), "float32")', "R.Any", 'R.Prim("int64")'),
    *('R.Prim(value="n")', 'R.Shape(["n", "m"])', "R.Shape", 'R.Tuple(R.Tensor, R.Prim("int64"))'),
    *('R.Tuple(R.Tensor((n, 4), "float32"), R.Any)', "R.Callable", 'R.Tensor((n, 4), "float32")'),
)


class Kernel(NamedTuple):
    """A PrimFunc: its text, the shapes and element types of its buffers, and its scalar, if it has one."""

    text: str
    shapes: list[str]
    kinds: list[str]
    scalar: str

    def tensors(self, random: Random) -> list[str]:
        """Tensors that fit the buffers, mostly: other dimensions for `p` and `q`, and sometimes one that does not fit."""
        dims = {"p": random.choice(DIMS), "q": random.choice(DIMS), "n": "n", "m": "m"}
        found = []
        for shape, kind in zip(self.shapes, self.kinds, strict=True):
            fitted = "".join(f"({dims[each]})" if each in dims else each for each in shape)
            if random.random() < 0.15:
                fitted = fitted.replace(random.choice(["4", "(n)", "(m)"]), random.choice(DIMS))
            found.append(f'R.Tensor({fitted}, "{kind}")')
        return found


def _prim_func(random: Random) -> Kernel:
    """A PrimFunc with one to three buffers, and sometimes a scalar or a handle without a buffer."""
    count = random.choice([1, 2, 2, 2, 3])
    kinds = random.choices(["float32", "float32", "float32", "float16", "int64"], k=count)
    shapes = [random.choice(BUFFERS) for _ in range(count)]
    params = [f"a{at}: T.handle" for at in range(count)]
    extra = random.choice(["", "", "", "s: T.int64", "h: T.handle", "s: T.float32"])
    lines = ["n = T.int64()", "m = T.int64()", "p = T.int64()", "q = T.int64()"]
    if extra == "s: T.int64" and random.random() < 0.5:
        extra, lines = "n: T.int64", lines[1:]
    lines += [
        f'A{at} = T.match_buffer(a{at}, {shape}, "{kind}")'
        for at, (shape, kind) in enumerate(zip(shapes, kinds, strict=True))
    ]
    stored = random.choice([count - 1, count - 1, 0])
    rank = (
        shapes[stored].count(",") + (not shapes[stored].endswith(",)"))
        if shapes[stored] != "()"
        else 0
    )
    place = ", ".join(["0"] * rank) or "()"
    store = f'A{stored}[{place}] = T.cast(1, "{kinds[stored]}")'
    lines += random.choice(
        [
            [store],
            [store],
            ["for i in range(4):", f"    {store}"],
            ["if T.bool(True):", f"    {store}"],
            ["if T.bool(True):", "    T.evaluate(0)", "else:", f"    {store}"],
            ['with T.block("b"):', "    T.reads()", "    T.writes()", f"    {store}"],
            ['with T.block("b"):', "    with T.init():", f"        {store}", "    T.evaluate(0)"],
            ["while T.bool(False):", f"    {store}"],
            ["T.evaluate(0)"],
            [],
        ]
    )
    head = ", ".join([*params, *([extra] if extra else [])])
    body = "".join(f"        {line}\n" for line in lines or ["pass"])
    text = f"    @T.prim_func(private=True)\n    def f({head}):\n{body}"
    return Kernel(text, shapes, kinds, extra)


def prim_call(random: Random) -> str:
    """The text of a module with a PrimFunc, or something like it, and a call of it."""
    kernel = _prim_func(random)
    tensors = [random.choice(TENSORS) for _ in range(random.choice([1, 1, 2, 2, 3]))]
    fits = random.random() < 0.75
    outputs: list[str] = [random.choice(OUTPUTS)]
    if fits:
        tensors = kernel.tensors(random)
        outputs = tensors[-1:] if random.random() < 0.7 else [f"[{', '.join(tensors[1:])}]"]
        tensors = tensors[: -1 if outputs == tensors[-1:] else 1] or tensors
    params = [(f"x{at}", tensor) for at, tensor in enumerate(tensors)]
    names = [name for name, _ in params]
    given = random.choice(
        [f"({''.join(f'{name}, ' for name in names)})"] * (30 if fits else 5)
        + [names[0], f"[{names[0]}]", "()", "(x0, n)", "(x0, 1)", '(x0, "s")', "(x0, R.shape([n]))"]
    )
    callee = random.choice(
        ["cls.f"] * 24 + ["cls.g", '"f"', "cls.main", "cls.h", names[0], "R.ExternFunc('f')"]
    )
    operator = random.choice(
        ["call_tir"] * 10
        + ["call_tir_inplace"] * 6
        + ["call_dps_packed", "call_tir_with_grad", "vm.call_tir_dyn", "dist.call_tir_local_view"]
        + ["make_closure", "invoke_closure", "invoke_pure_closure", "call_inplace_packed"]
        + ["call_pure_packed", "call_builtin_with_ctx", "call_py_func"]
    )
    parts = [callee, given]
    parts += random.choice([[]] + [[f"out_ty={outputs[0]}"]] * 14)
    parts += random.choice(
        [[]] * (2 if "int64" in kernel.scalar else 12)
        + [[f"tir_vars={random.choice(['R.shape([n])', 'R.shape([n, m])', '(n,)', 'x0', '1'])}"]]
        * 4
    )
    if operator in ("call_tir_inplace", "call_inplace_packed") or random.random() < 0.05:
        places = random.choice(
            ["[0]", "[0]", "[1]", "[-1]", "[0, 1]", "[0, 0]", "[5]", "[-1, 0]", "[]"]
        )
        parts.append(f"inplace_indices={places}")
    if operator in ("call_pure_packed", "call_inplace_packed"):
        parts[1:2] = names
        parts = [part.replace("out_ty=", "ty_args=") for part in parts]
    if operator.startswith("invoke") or operator == "call_builtin_with_ctx":
        parts = [part.replace("out_ty=", "ty_args=") for part in parts]
    if operator.startswith("dist"):
        parts = [part.replace("out_ty=", "out=") for part in parts]
    signature = ", ".join(f"{name}: {kind}" for name, kind in params)
    head = "@I.ir_module\nclass Module:\n"
    g = "    @R.function(private=True)\n    def g(x: R.Tensor((n, 4), 'float32')) -> R.Tensor((n, 4), 'float32'):\n        n = T.int64()\n        return x\n"
    variables = "".join(f"        {name} = T.int64()\n" for name in ("n", "m"))
    call = f"        y = R.{operator}({', '.join(parts)})\n        return y\n"
    main = f'    @R.function(pure=False)\n    def main(sizes: R.Shape(["n", "m"]), {signature}):\n{variables}{call}'
    return head + kernel.text + (g if "g" in callee else "") + main
