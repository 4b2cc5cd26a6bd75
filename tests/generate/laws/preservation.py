"""Preservation: each binding of a legal program, cast to its derived type, passes in every machine, and the program ends
as it does without these casts; also once the redundant ones are eliminated.

``python -m tests.generate.laws.preservation COUNT SEED`` takes that many generated programs, half of them without the
annotations of results, which are then derived from the bodies. ``--corpus`` takes the examples, the networks of
``tests/tvm`` with their stages, and the programs in the files of TVM's wheel.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rlx.checker.check import IllFormedError, check_modules
from rlx.generate.campaign.programs import is_legal, program
from rlx.grammar.diagnostic import Source
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse
from rlx.old import types as old
from rlx.old.check import check_modules as check_older
from rlx.old.evaluation import run
from rlx.old.functions import derive
from rlx.semantics.outcome import Ended, Returned
from rlx.semantics.run.inputs import inputs
from rlx.semantics.values import Value
from rlx.solver.order.erase import erase
from rlx.transform.dynamic_checks import eliminate
from rlx.transform.lowering.passes import PassError
from rlx.vm import VirtualMachine, build
from tests.long_run import long_run
from tests.vm.agreement import FUEL, End, copies, corpus, differ, on_machine, on_vm

Known = Callable[[ast.Var], ast.StructInfo | None]


class Casting(Rewriter):
    """Casts the variable of each binding to what is known of it, as far as a text could say it there."""

    def __init__(self, known: Known) -> None:
        super().__init__()
        self.known = known
        self.sizes: list[tir.Var] = []
        self.casts = 0

    def function(self, function: ast.Function) -> ast.Function:
        outside = list(self.sizes)
        self.sizes += function.shape_vars
        made = super().function(function)
        self.sizes = outside
        return made

    def binding(self, binding: ast.Binding) -> tuple[ast.Binding, ...]:
        made = super().binding(binding)
        if isinstance(binding, ast.MatchCast):
            self.sizes += binding.shape_vars
        var = binding.var
        if var is None or (info := self.known(var)) is None:
            return made
        if var.shape_var is not None:
            self.sizes.append(var.shape_var)
        info = erase(info, frozenset(), frozenset(self.sizes))
        if isinstance(info, ast.ObjectStructInfo):
            return made
        self.casts += 1
        kind = type(var)
        return (
            *made,
            ast.MatchCast(
                kind(f"{var.name_hint}_{self.casts}_cast"), self.renamed.get(var, var), info
            ),
        )


class Unannotated(Rewriter):
    """Takes the annotations of results away."""

    def function(self, function: ast.Function) -> ast.Function:
        return replace(super().function(function), ret_struct_info=None, ret_span=None)


def without_results(module: ast.IRModule) -> ast.IRModule | None:
    """A module without annotations of results; None if it needs them."""
    made = parse(print_module(Unannotated().module(module))).modules[0]
    return made if check_modules((made,), Source("")).ok else None


def violations(module: ast.IRModule, seed: int) -> Iterator[str]:
    """The way in which a legal module breaks the law."""
    report = check_modules((module,), Source(""))
    (module,) = report.modules
    casting = Casting(lambda var: report.info.get(var))
    cast = casting.module(module)
    entries = [f for gv, f in module.relax_functions.items() if "global_symbol" in f.attrs]
    names: Mapping[Any, str] = {f: gv.name_hint for gv, f in module.functions.items()}
    eliminated = eliminate(cast)
    printed: list[str] = []
    machine = VirtualMachine(build(cast), output=printed.append, fuel=FUEL)
    older = _older(module)
    for function in entries:
        try:
            args = tuple(inputs(function, {}, seed).values)
        except ValueError:
            continue
        name = names[function]
        want = on_machine(module, name, args)
        ways = {
            "cast": on_machine(cast, name, args),
            "eliminated": on_machine(eliminated, name, args),
            "virtual machine": on_vm(machine, printed, name, args),
        }
        for way, found in ways.items():
            if difference := differ(want, found):
                yield f"{way}, {name}: {difference}"
        if older is not None:
            plain, checked = (_on_older(each, name, args) for each in older)
            if difference := differ(plain, checked):
                yield f"machine of 2022, {name}: {difference}"


def _older(module: ast.IRModule) -> tuple[ast.IRModule, ast.IRModule] | None:
    """A module of 2022 and the same with casts; None if it is none."""
    if not all(d.severity == "note" for d in check_older((module,), Source("")).diagnostics):
        return None
    known = derive(module)
    return module, Casting(
        lambda var: _written(known.types[var]) if var in known.types else None
    ).module(module)


def _written(type: old.Type) -> ast.StructInfo:
    """A type of 2022 as an annotation."""
    match type:
        case old.DynTensorType(ndim=ndim, dtype=kind):
            return ast.TensorStructInfo(None, kind, ndim)
        case old.ShapeType():
            return ast.ShapeStructInfo(None, -1)
        case old.TupleType(fields=fields):
            return ast.TupleStructInfo(tuple(map(_written, fields)))
        case old.FuncType(arg_types=params, ret_type=ret, pure=pure):
            return ast.FuncStructInfo(tuple(map(_written, params)), _written(ret), pure)
    return OBJECT


def _on_older(module: ast.IRModule, entry: str, args: tuple[Value, ...]) -> End:
    printed: list[str] = []
    ended = run(module, entry, copies(args), output=printed.append, fuel=FUEL)
    value = ended.value if isinstance(ended, Returned) else None
    words = f"{ended.code}: {ended.message}" if isinstance(ended, Ended) else ""
    return End(type(ended).__name__, value, tuple(printed), words)


def program_of(seed: int) -> ast.IRModule:
    """Legal program number `seed`, every second one without annotations of results where it can do without."""
    text, _ = program(seed)
    module: ast.IRModule = parse(text).modules[0]
    return (without_results(module) if seed % 2 else None) or module


def broken(seed: int, kinds: Counter[str]) -> str:
    """The way in which a generated program breaks the law; empty if it does not, or is not legal itself."""
    if not is_legal(seed):
        return ""
    kinds["legal"] += 1
    return "\n".join(violations(program_of(seed), seed))


def on_corpus() -> int:
    """Try the programs of the corpus; how many break the law."""
    programs = broken = 0
    for place, module in corpus():
        programs += 1
        try:
            found = next(violations(module, 1), None)
        except PassError as error:
            print(f"{place}: refused: {error}", flush=True)
            continue
        except IllFormedError as error:
            found = f"with its casts: {error}"
        if found is not None:
            broken += 1
            print(f"{place}: {found[:300]}", flush=True)
    print(f"{programs} programs: {broken} break the law")
    return broken


if __name__ == "__main__":
    sys.exit(on_corpus() > 0) if sys.argv[1:] == ["--corpus"] else long_run(broken)
