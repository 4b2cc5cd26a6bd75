"""Damage as accidents make it: one token lost, doubled, exchanged; one node of the metadata changed."""

from __future__ import annotations

import json
import random
from typing import Any

from rlx.grammar.read.lexer import TOKEN
from rlx.grammar.read.outline import metadata_span

Place = tuple[int, int]

_SPELT = r"""
x n m 0 1 -1 2 4 65536 4294967296 9223372036854775807 18446744073709551616 99999999999999999999999
1.5 1e999 1e-400 True False None _ main R T I cls metadata "float32" "int64" "bool" "" "n" "n +"
"void" "handle" "float8_e4m3fn" "int4" "NCHW" "cuda:0" "llvm" "inf" ( ) [ ] { } , : = == + - * **
/ // % @ ~ . -> ... ; < not and or if else return with def class for while in as pass assert
R.add( R.print( R.Tensor( R.Tensor R.Shape( R.Shape R.Tuple( R.Object R.Any R.Callable R.Callable(
R.Prim( T.int64 R.const( R.shape( R.tuple( R.str( R.dtype( R.prim_value( R.match_cast( R.call_tir(
R.output( R.dataflow( R.func_attr( R.call_packed( R.call_pure_packed( R.ExternFunc( R.nn.conv2d(
R.reshape( R.concat( R.split( R.zeros( R.arange( R.memory.alloc_tensor( R.vm.alloc_storage(
R.invoke_closure( R.make_closure( R.builtin.alloc_tensor( R.astype( T.int64( T.float32( T.max(
T.floordiv( T.exp( T.tanh( T.grid( T.Buffer( T.axis.spatial( T.sblock( T.if_then_else( T.Cast(
T.reinterpret( T.handle( T.match_buffer( I.vdevice( I.module_attrs( axis= shape= dtype= ndim=
out_ty= ty_args= sinfo_args= vdevice= indices_or_sections= purity= private= axes= value= # \ ' "
"""
POOL = _SPELT.split()
"""Tokens to put in the place of others; half of the time one of the text itself is taken."""


def tokens(text: str) -> list[Place]:
    """The positions of the tokens of a text, without white space, comments and metadata."""
    found: list[Place] = []
    at = 0
    held = metadata_span(text)
    while at < len(text):
        if held is not None and held[0] <= at < held[1]:
            at = held[1]
            continue
        match = TOKEN.match(text, at)
        if match is None:
            at += 1
            continue
        shown = match[match.lastgroup or 0]
        at, start = match.end(), match.end() - len(shown)
        if match.lastgroup == "INFO":  # its words are tokens too
            at = start + shown.find("(") + 1 if "(" in shown else at
        if match.lastgroup != "nothing":
            found.append((start, at))
    return found


def damaged(text: str, places: list[Place], rng: random.Random) -> str:
    """The text with one token replaced, dropped, doubled, or swapped with another.

    Parameters
    ----------
    places
        What :func:`tokens` says of the text.
    """
    start, end = rng.choice(places)
    token = text[start:end]
    match rng.randrange(6):
        case 0:
            made = ""
        case 1:
            made = f"{token} {token}"
        case 2:
            return _swapped(text, (start, end), rng.choice(places))
        case 3:
            made = _near(token, rng)
        case _:
            other = rng.choice(places)
            made = rng.choice((rng.choice(POOL), text[other[0] : other[1]]))
    return text[:start] + made + text[end:]


def _near(token: str, rng: random.Random) -> str:
    """A token that a slip of the finger makes of another."""
    at = rng.randrange(len(token))
    match rng.randrange(3):
        case 0:
            return token[:at] + token[at + 1 :]
        case 1:
            return token[:at] + token[at] + token[at:]
    return token[:at] + rng.choice("abnx019_.,()\"'- ") + token[at + 1 :]


def _swapped(text: str, one: Place, other: Place) -> str:
    (a, b), (c, d) = sorted((one, other))
    if c < b:
        return text
    return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


VALUES: tuple[Any, ...] = (
    *(None, True, 0, 1, -1, 7, 10**6, 2**31, 2**63, 2**64, -(2**63), 1.5, 1e300, float("nan")),
    *("", "x", "float32", "ffi.Map", "ir.GenericConst", "QUJD", "=", "é", "/////w==", "\\", '"'),
    *([], {}, [0], [None], [[]], {"data": 0}, {"type": "ffi.Map"}, {"value": []}),
)


def damaged_metadata(text: str, rng: random.Random) -> str:
    """The text with something in its metadata changed: a node, or a character."""
    span = metadata_span(text)
    if span is None:
        return text
    raw = text[span[0] : span[1]]
    if rng.random() < 0.2:
        at = rng.randrange(len(raw))
        made = raw[:at] + rng.choice(["", "\0", "A", '"', "]", "0", "\\"]) + raw[at + 1 :]
        return text[: span[0]] + made + text[span[1] :]
    start, end = raw.index("{"), raw.rindex("}") + 1
    graph = json.loads(raw[start:end].replace('\\"', '"').replace("\\\\", "\\"), strict=False)
    _change(graph, rng)
    made = json.dumps(graph).replace("\\", "\\\\").replace('"', '\\"')
    return text[: span[0]] + raw[:start] + made + raw[end:] + text[span[1] :]


def _change(graph: Any, rng: random.Random) -> None:
    """Change one value, anywhere in a JSON document."""
    at = graph
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not keys:
            return
        key = rng.choice(keys)
        inner = at[key]
        if isinstance(inner, dict | list) and inner and rng.random() < 0.85:
            at = inner
            continue
        match rng.randrange(6):
            case 0:
                del at[key]
            case 1 if isinstance(at, list):
                at.append(inner)
            case 2 if isinstance(inner, int | float):
                at[key] = inner + rng.choice((-1, 1, 2**32))
            case 3 if isinstance(inner, str) and inner:
                cut = rng.randrange(len(inner))
                at[key] = inner[:cut] + rng.choice(["", "A", "_", "AAAA"]) + inner[cut + 1 :]
            case _:
                at[key] = rng.choice(VALUES)
        return
