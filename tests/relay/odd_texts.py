"""Texts of Relay whose words are at the limits of what they may be: numbers, values of attributes, definitions, nesting."""

from __future__ import annotations

from random import Random

from tests.relay.test_attribute_values import spelt

NUMBERS = (
    *(
        "127i8",
        "-128i8",
        "128i8",
        "-129i8",
        "255u8",
        "256u8",
        "-1u8",
        "3i12",
        "1u24",
        "65536u16",
        "32768i16",
    ),
    *("2147483647", "-2147483648", "2147483648", "-2147483649", "4294967295u32", "4294967296u32"),
    *("9223372036854775807i64", "9223372036854775808i64", "-9223372036854775808i64", "1" * 30),
    *(
        "-9223372036854775809i64",
        "18446744073709551615u64",
        "18446744073709551616u64",
        "1bf16",
        "1bf32",
    ),
    *(
        "1f8",
        "1f16",
        "1.5f64",
        "1e3",
        "1e400",
        "-0f",
        "inff",
        "-inff16",
        "nanbf16",
        "infbf32",
        "nanf8",
    ),
    *(
        "1.5i32",
        "True",
        "False",
        "-True",
        "1.",
        ".5f",
        "0x10",
        "1e5i32",
        "007",
        "meta[relay.Constant][0]",
    ),
    *(
        "meta[relay.Constant][9999999999]",
        "meta[relay.Constant][x]",
        "meta[x][0]",
        "meta[relay.Constant][1]",
    ),
)
TYPES = (
    *(
        "float32",
        "int4",
        "Tensor[(), int32]",
        "Tensor[(2,), bool]",
        "Tensor[(n, ?), float16]",
        "()",
        "(int32,)",
    ),
    *(
        "(int32, (bool,))",
        "fn (int32) -> bool",
        "fn () -> _",
        "_",
        "Tensor[(2, 3), float8]",
        "Tensor[2, int32]",
    ),
    *(
        "Tensor[(n, n), float32]",
        "Tensor[(-1,), float32]",
        "A",
        "List[int32]",
        "fn (_, (int32,)) -> (_,)",
    ),
    *(
        "Tensor[(9223372036854775808,), int8]",
        "Tensor[(class, R), float32]",
        "fn (A",
        "Tensor[(2 int32]",
    ),
)
HEADS = (
    *(
        "type List[A] {\n  Cons(A),\n}\n",
        "extern type T\n",
        'import "prelude.rly"\n',
        "type\n",
        "v0.0.4\n",
    ),
    *(
        "@main_1 = primfn(%a: handle) -> ()\n",
        "def @main(%x) { %x }\n",
        "def @f[A](%x: A) -> A { %x }\n",
    ),
    *(
        "def @f[A, B {\n",
        '#[version = "0.0.5"]\n',
        '#[version = "0.0.7"]\n',
        "/* a /* b */ c */\n",
        "// d\n",
    ),
    *(
        "import tvm\n",
        "from tvm import relay\n",
        "class A:\n",
        "@R.function\n",
        "def f(x):\n",
        "\ufeff",
        "primfn\n",
    ),
    *(
        "free_var %x: float32;\n",
        "free_var %x: Tensor[(2,), int32];\nfree_var %y\n",
        "def @g() { @main(1) }\n",
    ),
)
TAILS = (
    *(
        "",
        "",
        "",
        "\n#[metadata]\n{}",
        "\n#[metadata]\n{",
        "\n}",
        "\ndef @main(%y) { %y }",
        " /* ty=int32 */",
    ),
    *(
        "\n/* meta data */",
        "\nextern type U",
        "\n@p = primfn()",
        "\n%9",
        "\ndef @R(%x) { @class(%x) }",
    ),
)


def text(random: Random) -> str:
    """A text."""
    head = random.choice(HEADS) if random.random() < 0.3 else ""
    kinds = [
        random.choice(TYPES) if random.random() < 0.7 else "Tensor[(2, 3), float32]"
        for _ in range(2)
    ]
    names = [random.choice(["x", "class", "R", "T", "a.b", "1", "x_1", "_", "x"]) for _ in range(2)]
    params = ", ".join(f"%{name}: {kind}" for name, kind in zip(names, kinds, strict=True))
    ret = f" -> {random.choice(TYPES)}" if random.random() < 0.3 else ""
    lines = [f"  {_statement(random, names)}" for _ in range(random.randrange(4))]
    body = "\n".join([*lines, f"  {_expression(random, names)}"])
    if random.random() < 0.1:
        return f"{head}fn ({params}){ret} {{\n{body}\n}}{random.choice(TAILS)}"
    if random.random() < 0.1:
        return f"{head}{_expression(random, names)}{random.choice(TAILS)}"
    attrs = (
        f", {random.choice(['Primitive', 'a'])}={spelt(random)[0]}" if random.random() < 0.3 else ""
    )
    return f"{head}def @main({params}{attrs}){ret} {{\n{body}\n}}{random.choice(TAILS)}"


def _statement(random: Random, names: list[str]) -> str:
    value, end = _expression(random, names), random.choice([";", ";", ""])
    kind = f": {random.choice(TYPES)}" if random.random() < 0.5 else ""
    match random.randrange(4):
        case 0:
            return f"let %{random.choice([*names, 'y'])}{kind} = {value}{end}"
        case 1:
            return f"let %f{kind} = fn (%y{kind}) {{ {value} }}{end}"
        case 2:
            return f"{value}{end}"
    return f"%{random.choice(['0', '1', '2', 'z'])} = {value}{end}"


def _expression(random: Random, names: list[str], depth: int = 3) -> str:
    def inner() -> str:
        return _expression(random, names, depth - 1)

    match random.randrange(13 if depth else 4):
        case 0:
            return random.choice(NUMBERS)
        case 1 | 2:
            return f"%{random.choice([*names, *names, '0', 'f'])}"
        case 3:
            return random.choice(["()", "@main", "@class", "add", "%0.0", "-%x", "%x.1.0"])
        case 4:
            return f"f({inner()}, a={spelt(random)[0]}, b={spelt(random)[0]})"
        case 5:
            return f"({inner()}, {inner()}{random.choice(['', ',', ')'])})"
        case 6:
            return f"({inner()}){random.choice(['.0', '.1', '.x', '.99999999999'])}"
        case 7:
            return f"{inner()} {random.choice(['+', '-', '*', '/', '<', '>', '<=', '>=', '==', '!='])} {inner()}"
        case 8:
            return f"if ({inner()}) {{ {inner()} }} else {{ {inner()} }}"
        case 9:
            return f"{inner()}({inner()}) /* ty={random.choice(TYPES)} span=a:1:2 */"
        case 10:
            size = random.choice([3, 3, 3, 3, 3, 499, 999, 1000, 1001])
            return f"{'(' * size}{inner()}{',)' * size}"
        case 11:
            return f"{{ let %y = {inner()}; {inner()} }}"
    return f"fn (%y: {random.choice(TYPES)}) -> {random.choice(TYPES)} {{ {inner()} }}"
