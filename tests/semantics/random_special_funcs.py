"""Random PrimFuncs of what others seldom have: vectors, sorts, the C library, threads, odd loops, views of memory, wide sums."""

from __future__ import annotations

from random import Random

from rlx.semantics.tir.c_math import C_MATH
from rlx.semantics.tir.sorts import SORTS

_HEAD = "@I.ir_module\nclass Module:\n    @T.prim_func\n"
_FLOATS = ("float32", "float32", "float64", "float16", "bfloat16")
_INTEGERS = ("int32", "int64", "int8", "uint8", "int16", "uint32", "uint64")
_KINDS = (*_FLOATS, *_INTEGERS, "bool")


def special(random: Random) -> str:
    """The text of a module with one such function."""
    few = (_threads, _views, _casts, _sums, _blocks, _truths)
    often = (_vectors, _sorts, _library, _loops)
    return random.choice((*often, *often, *few))(random)


def _function(parameters: str, body: list[str]) -> str:
    lines = "\n".join(f"        {line}" for line in body)
    return f"{_HEAD}    def f({parameters}):\n{lines}\n"


def _buffers(random: Random, size: str = "8") -> str:
    kinds = [
        random.choice(_KINDS if random.random() < 0.5 else ("int32", "float32")) for _ in "abc"
    ]
    each = (
        f'{name}: T.Buffer(({size},), "{kind}")' for name, kind in zip("abc", kinds, strict=True)
    )
    return f"{', '.join(each)}, k: T.int32"


def _lanes(random: Random) -> str:
    first, step, count = random.choice("0123"), random.choice(("1", "1", "2", "-1", "0")), "4"
    return random.choice(
        (
            f"T.ramp({first}, {step}, {count})",
            f"{first}:{int(first) + 4}",
            f"T.ramp(k, 1, {count})",
            "0:8:2",
        )
    )


def _vector(random: Random, depth: int) -> str:
    name = random.choice("ab")
    if depth <= 0:
        some = "T.broadcast(a[1], 4) | k | a[2] | T.float32(1.5) | T.broadcast(T.int32(3), 4) | T.ramp(1, 2, 4)"
        return random.choice((*[f"{name}[{_lanes(random)}]"] * 3, *some.split(" | ")))
    form = random.choice(_FORMS)
    parts = {letter: _vector(random, depth - 1) for letter in "xyz"}
    sign = random.choice(("+", "-", "*", "//", "%", "<", "<=", "==", "!=", "/"))
    return form.format_map({**parts, "sign": sign, "v": "{v: " + parts["y"] + "}"})


_FORMS = (
    *("({x} {sign} {y})", "({x} {sign} {y})", "T.max({x}, {y})", "T.Select({x} < {y}, {z}, {x})"),
    *('T.Cast("float32x4", {x})', "T.if_then_else({x} < {y}, {z}, {x})", "(not ({x} < {y}))"),
    *("T.exp({x})", "({x} < {y} and {y} < {z})", "T.shift_left({x}, 1)", "T.fabs({x})"),
    *('T.reinterpret("int32x4", {x})', 'T.Cast("int32", {x})', "T.Let({x} + v, where={v})"),
)


def _vectors(random: Random) -> str:
    value = _vector(random, random.choice((0, 1, 1, 2)))
    return _function(_buffers(random), [f"c[{_lanes(random)}] = {value}"])


def _sorts(random: Random) -> str:
    """The functions that sort, on one axis or two."""
    name = random.choice(sorted(SORTS))
    shape = random.choice(("(6,)", "(2, 4)", "(3, 2)", "(2, 3, 2)", "(0,)", "(1,)"))
    kinds = [
        random.choice(("float32", "int32", "float16", "bfloat16", "uint8", "float64")) for _ in "ab"
    ]
    axis, up = (
        random.choice(("0", "-1", "1", "2", "-3", "k")),
        random.choice(("T.bool(True)", "T.bool(False)", "k")),
    )
    data, out = random.choice((("a.data", "c.data"), ("a.data", "c.data"), ("a.data", "a.data")))
    results = random.choice((["c.data"], ["b.data", "c.data"]))
    first, kind = random.choice("12093"), random.choice(('"both"', '"values"', '"indices"'))
    arguments = {
        "sort": [data, out, axis, up],
        "argsort": [data, out, axis, up],
        "argsort_nms": [data, "valid.data", out, axis, up],
        "topk": [data, *results, first, axis, kind, up],
    }[name.rpartition(".")[2]]
    if random.random() < 0.1:
        del arguments[random.randrange(len(arguments))]
    word = random.choice(("call_packed", "call_packed", "tvm_call_packed"))
    parameters = (
        f'a: T.Buffer({shape}, "{kinds[0]}"), b: T.Buffer({shape}, "{kinds[0]}"), c: T.Buffer({shape},'
        f' "{random.choice((kinds[0], "int32", "int64", kinds[1]))}"), valid: T.Buffer((4,), "int32"), k: T.int32'
    )
    before = ["a[0] = a[1]"] if random.random() < 0.1 else []
    return _function(parameters, [*before, f'T.{word}("{name}", {", ".join(arguments)})'])


def _library(random: Random) -> str:
    """The functions of C by name."""
    name = random.choice(sorted(C_MATH))
    kind = random.choice(_FLOATS[:3])
    count = random.choice((1, 1, 2, 2, 3))
    operands = [
        "a[i]",
        "b[i]",
        "a[7 - i]",
        "T.float32(0.5)",
        "T.float32(-2.5)",
        'T.float32("nan")',
        "k",
    ]
    given = ", ".join(random.choice(operands) for _ in range(count))
    word = random.choice(
        ("call_extern", "call_pure_extern", "call_llvm_pure_intrin", "call_extern")
    )
    result = random.choice((f'"{kind}", ', f'"{kind}", ', '"int32", ', ""))
    call = f'T.{word}({result}"{name}", {given})'
    return _function(_buffers(random), ["for i in range(8):", f"    c[i] = {call}"])


def _threads(random: Random) -> str:
    place = random.choice(("threadIdx.x", "blockIdx.y", "vthread"))
    heads = [f'with T.launch_thread("{place}", {random.choice(("4", "k", "8", "0"))}) as tx:']
    if random.random() < 0.3:
        heads = [
            f'tx = T.env_thread("{place}")',
            f"with T.launch_thread(tx, {random.choice('48')}):",
        ]
    if random.random() < 0.15:
        heads = [
            random.choice(
                (
                    'with T.launch_thread("x"):',
                    "with T.launch_thread(k, 4) as tx:",
                    "with T.block_realize():",
                )
            )
        ]
    return _function(_buffers(random), [*heads, '    a[tx] = a[tx] + T.Cast("int32", tx)'])


def _loops(random: Random) -> str:
    """Loops whose variable is narrow, with bounds of odd types, with a way out."""
    low, high = (
        random.choice(
            (
                "0",
                "1",
                "k",
                "T.int8(100)",
                "T.int8(-3)",
                "T.int64(2)",
                "T.uint8(250)",
                "5",
                "8",
                "130",
            )
        )
        for _ in "lh"
    )
    bounds = random.choice(
        (
            f"{low}, {high}",
            high,
            f"{low}, {high}, step={random.choice(('1', '2', '-1', 'k', '0', '3'))}",
        )
    )
    kind = random.choice(("serial", "serial", "parallel", "unroll", "vectorized", "range"))
    head = f"for i in {'range' if kind == 'range' else f'T.{kind}'}({bounds}):"
    body = random.choice(
        (
            ["a[i % 8] = a[i % 8] + 1"],
            ['a[i % 8] = T.Cast("int32", i)', "if a[i % 8] > 2:", "    break"],
            ["if i % 2 == 0:", "    continue", "a[i % 8] = 7"],
            [
                "for j in range(3):",
                "    if j == 1:",
                "        T.evaluate(T.break_loop())",
                "    a[j] = a[j] + 1",
            ],
            ["while a[0] < 5:", "    a[0] = a[0] + 1", "    if a[0] == 3:", "        break"],
            [
                "while a[0] < 5:",
                "    a[0] = a[0] + 1",
                "    if a[0] == 3:",
                "        continue",
                "    a[1] = a[1] + a[0]",
            ],
            ["a[i] = 1"],
        )
    )
    return _function(_buffers(random), [head, *(f"    {line}" for line in body)])


def _views(random: Random) -> str:
    """Views of memory with other types, places, strides."""
    kind = random.choice(("int32", "float32", "int64", "uint32", "int8"))
    attrs = random.choice(
        (
            "",
            ", elem_offset=2",
            ", strides=(2,)",
            ", strides=(k,)",
            ", elem_offset=k",
            ", strides=(1, 4)",
        )
    )
    shape = random.choice(("(4,)", "(2, 2)", "(9,)", "(k,)", "(0,)"))
    index = "0" if "," not in shape[:-2] else "1, 1"
    first = random.choice(
        (
            f't = T.decl_buffer({shape}, "{kind}", data=a.data{attrs})',
            f't = T.decl_buffer({shape}, "{kind}", data=c.data{attrs})',
            f't = T.alloc_buffer({shape}, "{kind}"{attrs})',
            f't = T.match_buffer(a[1:5], {shape}, "{kind}"{attrs})',
            f't = T.match_buffer(a[k:8], (4,), "{kind}", strides=(s,), elem_offset=o)',
        )
    )
    declared = ["s = T.int32()", "o = T.int32()"] if "(s,)" in first else []
    last = random.choice(
        (
            f"t[{index}] = 5",
            f"b[0] = t[{index}]",
            f"t[{index}] = t[{index}] + 1",
            "b[1] = s + o" if declared else "t[3] = 1",
        )
    )
    return _function(
        _buffers(random), [*declared, first, last, *(["t[k] = 2"] if random.random() < 0.3 else [])]
    )


def _casts(random: Random) -> str:
    """Integers of many bits as floats, which round once."""
    bits = random.choice((11, 12, 24, 25, 53, 54, 62))
    value = random.choice((1, -1)) * (
        (1 << bits)
        + random.choice((0, 1, -1, 1 << max(bits - 11, 0), (1 << max(bits - 12, 0)) + 1))
    )
    source = random.choice(("int64", "int64", "uint64"))
    value = abs(value) if source == "uint64" else value
    target = random.choice((*_FLOATS, "int8", "uint16", "bool"))
    call = random.choice(
        (f'T.Cast("{target}", T.{source}({value}))', f'T.Cast("{target}", T.{source}({value}) + k)')
    )
    number = random.choice(
        (
            "65503.0",
            "65519.0",
            "65520.0",
            "3.4e38",
            "1e-45",
            "2.5",
            "-0.5",
            "1e19",
            "6e-8",
            "-129.0",
            "255.5",
        )
    )
    if random.random() < 0.4:
        call = f'T.Cast("{target}", T.float64({number}))'
    return _function(f'c: T.Buffer((1,), "{target}"), k: T.int64', [f"c[0] = {call}"])


def _sums(random: Random) -> str:
    """Chains of many operators of several types."""
    sign = random.choice(("+", "-", "*", "//"))
    parts = [
        random.choice(("a[i]", "b[i]", "k", "2", "T.int64(3)", "T.float32(0.5)", "i"))
        for _ in range(random.choice((3, 30, 70)))
    ]
    total = f" {sign} ".join(parts)
    return _function(
        _buffers(random),
        [
            "for i in range(2):",
            f"    c[i] = {total}",
            f"c[{random.choice(('2', total.replace('[i]', '[0]').replace('i', '1')))}] = 1",
        ],
    )


def _blocks(random: Random) -> str:
    """Blocks whose axes begin elsewhere, with memory of their own."""
    axes = random.choice(
        (
            ["vi = T.axis.reduce((2, 6), i)"],
            ["vi = T.axis.reduce(4, i)", "vj = T.axis.reduce((1, 3), j)"],
            ['vi, vj = T.axis.remap("SR", [i, j])'],
            ['vi, vj = T.axis.remap("RR", [i + 1, j])'],
            ["vi = T.axis.spatial(8, i + j)"],
            ["vi = T.axis.reduce(4, 3 - i)"],
        )
    )
    low = random.choice(("", "1, ", "2, "))
    own = random.choice(
        (
            [],
            ['t = T.sblock_alloc_buffer((8,), "int32")', "t[vi] = a[vi]", "b[vi] = t[vi]"],
            ['t = T.sblock_alloc_buffer((1 << 20,), "int32")', "t[0] = 1"],
        )
    )
    where = random.choice(([], ["T.where(i < 3)"], ["T.where(a[i] > 1)"]))
    return _function(
        _buffers(random),
        [
            f"for i in T.serial({low}{random.choice('456')}):",
            f"    for j in T.serial({low}4):",
            '        with T.sblock("s"):',
            *(f"            {line}" for line in (*axes, *where)),
            *(
                ["            with T.init():", "                c[vi] = 0"]
                if random.random() < 0.7
                else []
            ),
            *(f"            {line}" for line in own),
            "            c[vi] = c[vi] + a[vi]",
        ],
    )


def _truths(random: Random) -> str:
    """Conditions of several parts, some of which must not be evaluated."""
    parts = [
        "i > 0",
        "a[i - 1] == 1",
        "8 // k > 1",
        "b[i] < T.float32(2)",
        "k > 2",
        "a[i] == a[7 - i]",
        "T.bool(True)",
    ]
    few = random.choices(parts, k=random.choice((2, 3, 4)))
    word = random.choice((" and ", " or ", None))
    joined = word.join(few) if word else f"({few[0]} or {few[1]}) and not ({few[-1]})"
    use = random.choice(
        (
            "if {c}:",
            'assert {c}, "words"',
            "c[i] = T.Select({c}, 1, 0)",
            "c[i] = T.if_then_else({c}, a[i], 3)",
            "c[i] = {c}",
        )
    )
    lines = [f"    {use.format(c=joined)}"]
    if use.startswith("if"):
        lines.append("        c[i] = 1")
    return _function(_buffers(random), ["for i in range(8):", *lines])
