"""Words that damage puts into texts: numbers at limits, element types, characters, code, arguments."""

from __future__ import annotations

NUMBERS = (
    "0",
    "-1",
    "1",
    "2147483647",
    "2147483648",
    "-2147483649",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551616",
    *("1e309", "-1e309", "nan", "float('nan')", "1e-400", "0.5", "-0.0", "0x7fffffff", "1_000"),
    *("007", "1j", "4096"),
)
DTYPES = (
    *[
        *("float8_e4m3fn", "float8_e5m2", "float4_e2m1fn", "int4", "uint1", "bfloat16"),
        *("handle", "bool", "float4x2", "float32x4", "float16", "float64", "int8", "uint64"),
        *("int64", "int32", "uint8", "void", "object", "string", "float", "int", "complex64"),
        *("int0", "int65", "float32x0", "float32x65536", "custom[x]32", "Float32"),
    ],
    "",
    "float 32",
)
EXTENTS = (
    *[
        "0",
        "1",
        "-1",
        "2147483648",
        "4611686018427387904",
        "9223372036854775807",
        *("65536", "n", "-n", "3.0", "True", "T.int32(4)", "T.float32(4)", '"q"'),
    ],
    *("n - n", "n // 0", "n % 0", "n * 4294967296"),
)
NAMES = [
    *("main", "cls", "R", "T", "I", "x", "n", "_", "None", "self", "lambda", "é", "__init__"),
    "vm_main",
]
ATTRIBUTES = (
    *("foo=1", "axis=None", "axis=[0,0]", "axis=99", "axis=-99", 'dtype="int4"', "keepdims=x"),
    *("*x", "**x", "axis=axis", "shape=(0,)", "out_dtype=void", "strides=[0]", "padding=[-1]"),
    "groups=0",
    "dilation=[2147483648]",
    'data_layout="NCHW4c"',
    "sinfo_args=()",
    "out_sinfo=x",
    "self=x",
)
SAID = (
    *("rlx: ignore", "rlx: ignore[]", "rlx: ignore[D14-arity, WF]", "rlx: ignore[PARSE]"),
    *("type: x", "fmt: off", "\x00"),
)
"""Comments."""
STRINGS = (
    *(
        *('"', "'", '"""', '"\\"', '"a\\"b"', '"\\0"', '"\x00"', '"\\ud800"', '"\\x"'),
        '"\\N{DIGIT ONE}"',
    ),
    *(
        *('"\\\n"', "b'x'", "r'\\'", "f'{x}'", '"%s%n"', '"{}"', '"\u202e"', '"\U0001f4a5"'),
        '"\ud800"',
    ),
    *('"a" "b"', "u'x'", '"' + "s" * 5000 + '"'),
)
ODD = (
    *("\x00", "\x0b", "\x0c", "\x1a", "\x1b[2J", "\x7f", "\x85", "\xa0", "\u2028", "\u2029"),
    *("\ufeff", "\ud800"),
)
LOOKALIKES = {
    "a": "\u0430",
    "e": "\u0435",
    "o": "\u043e",
    "x": "\u0445",
    "n": "\uff4e",
    "0": "\uff10",
    "1": "\u0661",
    "-": "\u2212",
    ",": "\uff0c",
    "(": "\uff08",
    '"': "\u201d",
    ":": "\uff1a",
    "*": "\u00d7",
    ".": "\u3002",
    "_": "\uff3f",
    "=": "\uff1d",
    " ": "\u3000",
}
PAYLOADS = (
    "__import__('os').system('true')",
    "eval(\"__import__('os').system('true')\")",
    "(lambda: __import__('subprocess').run('true'))()",
    "[__import__('os').system('true') for _ in range(1)][0]",
    "open('written', 'w').write('x')",
    "exec('import socket; socket.create_connection((\"localhost\", 9))')",
)
NESTS = (
    *(("(", ")"), ("[", "]"), ("{", "}"), ("(", ",)"), ("R.add(", ", x)"), ("R.Tuple(", ")")),
    *(("T.max(", ", 1)"), ("-", ""), ("not ", ""), ("[", ""), ("", "[0]"), ("", ".a"), ("", "**2")),
)
