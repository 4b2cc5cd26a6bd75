"""A small specification: each form that chapters, rules, blocks, examples and entries of the ledger have."""

from __future__ import annotations

from pathlib import Path

README = """# Small

What <holds>: D12 and [the order](order.md#order), [order.md](order.md), [Old rules](old/types.md).

# Symbols

`G` and `S |- I <: J`, `D12`, `D12-tuple`, `Var`, `x.y`; see Ledger 2, ledger 1 and WF99.

## Of programs

    plain code

# Abstract syntax

```
IRModule   ::= {Function}
Function   ::= Function(Var, Expr)
Expr       ::= Var(name) | TupleGetItem(Expr, i) | PrimFunc
PrimExpr   ::= Var(name)
             | Add(PrimExpr, PrimExpr)
PrimFunc   ::= PrimFunc(Var, Add)
```

# Judgements

<!-- judgements -->

| old | table |
|---|---|

# Index

<!-- index -->

| construct | rules |
|---|---|
| `Var` | D12 |
| `TupleGetItem` | D12 |
"""

DERIVATION = """# Derivation

Rules that say what `e` is, as [Title][t] does.

## D12 Fields (`TupleGetItem`, `Var`)

The field `i` of a tuple,
as D13 says.

```rule
D12-tuple: G; S |- e' : TupleStructInfo(I0,
  ..., Ik)
G(x) = I
D12-index: 0 <= i <= k
----
G; S |- TupleGetItem(e, i) : Ii
```

Premises:
- `D12-tuple`: what is indexed is a tuple,
  and has *fields*.
- `D12-index`: the tuple has a field of that index.

Why: Fields are counted from 0 [in Python](https://example.org/a?b=1&c=2).
Source: [Title, 1][t].
Ledger: 2, 1.
TVM: does < otherwise.

```relax good
@R.function
def main(x: R.Tensor(("n",), "float32")):  # a comment
    return "text" if 1 < 2.5 else 'x'
```

```relax bad D12-tuple D12-index D12-tuple
## no heading
```

```text
no example
```

## D13 Names

Nothing is demanded.

Why: So.
Source: None.

```run good
```

```run bad D13
```

# Notes

## Words

````
## D14 Not a rule
```
still inside
````

### Deeper

Below.

[t]: https://example.org/t
"""

ORDER = """# Order & more

## SUB-any Objects

What is in `I` is in `J`.

```rule
----
S |- I <: J
```

Premises:
- `SUB-any`: it is
  so.

Why: It is.
Source: Here.
Ledger: 2.

```order good
```

```order bad SUB-any
```

```tree good
```

```tree bad SUB-any
```

```checks good
```

```checks bad SUB-any
```
"""

LEDGER = """# Ledger

Places where the letter can't stand.

## 1 The first thing

It says one thing. D12 says another.

Witness: `test_one` and `test_two`.

## 2 The second

Nobody shows it.

## 3 The third

No rule follows it.
"""

OLD = """# Old types

## T-add Sums (`Add`)

A sum.

```rule
a
----
x : Add(Var(n))
```

Why: So.
Source: There.

```relax good
```
"""

LAST = "# Last\n\nA chapter without rules. | `TupleGetItem` |\n"

CHAPTERS = {
    "README.md": README,
    "derivation.md": DERIVATION,
    "order.md": ORDER,
    "ledger.md": LEDGER,
    "old/types.md": OLD,
    "zebra.md": LAST,
    "aardvark.md": LAST,
}


def write(folder: Path) -> None:
    """Put the chapters into a folder."""
    for name, text in CHAPTERS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
