"""Runs of both programs on small inputs, in search of a difference."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cached_property, partial
from itertools import cycle, product
from typing import Any

from rlx.checker.check import check_text
from rlx.checker.derive.naming import may_be_negative
from rlx.grammar.nodes import ast, struct_infos, tir
from rlx.grammar.nodes.dtype import dtype, numpy_type
from rlx.grammar.nodes.node import Node, Record, complete, replace
from rlx.grammar.nodes.rewrite import rebuild
from rlx.grammar.print.printer import print_module
from rlx.grammar.print.weights import constants, metadata_of, referring
from rlx.grammar.wording import counted
from rlx.refine.answer import Counterexample
from rlx.refine.contracts import BY_PASS, Interface, arguments_of, bound_constants
from rlx.refine.execute import constant_term
from rlx.refine.loops import Unread, read_loops
from rlx.semantics.outcome import (
    CheckFailed,
    Fault,
    Outcome,
    OutOfFuel,
    Returned,
)
from rlx.semantics.tir import SharedFuel
from rlx.semantics.values import (
    UNIT,
    Closure,
    FunctionName,
    Packed,
    Scalar,
    ShapeValue,
    Tensor,
    TupleValue,
    Value,
    values_inside,
)
from rlx.transform.legalization import legalize

SIZES = (2, 1, 3, 0, 4, 5, 8)
"""The numbers that shape variables get, those that show most first."""
SMALL = 3
"""Sizes up to it are tried before all others."""
BOUNDARIES = 6
"""The most shape variables that are at their boundary while the others are not."""
RUNS = 14
"""The most combinations of sizes."""
SEEDS = 2
"""The sets of inputs for each combination."""
SPECIAL = 4
"""The combinations of sizes with special inputs."""
FUEL = 20_000
"""The steps of a run. Where one did not end, others get a quarter: most of them will not, either."""
ITERATIONS = 2
"""The iterations of loops of PrimFuncs that each step of the fuel grants."""
WORK = 400_000
"""The iterations in all runs of a pair; they take a few seconds."""
LONG = 300_000_000
"""The iterations of a run in machine code, where those of the evaluator are not enough."""
LONG_RUNS = 2
"""The inputs on which programs run in machine code."""
BINDING = 100
"""The iterations that take as long as a binding."""
SMALLER = 16
"""The most runs in search of a smaller counterexample."""
ELEMENTS = 2_000_000
"""Inputs with more elements are not run."""
_ELSEWHERE = ("E-extern-registered",)
"""Faults of the surroundings: a packed function that is not there shows nothing."""
TOLERANCE = {"float64": 1e-9, "float32": 1e-4, "float16": 3e-2, "bfloat16": 2e-1}
"""Differences up to it are no evidence: the rounding of functions and the order of sums are free."""


class Searched(Record):
    """The result of a search for inputs on which programs differ.

    Attributes
    ----------
    example
        Inputs on which the programs differ, the smallest that were found.
    ended
        Why not all inputs were tried; empty if they were.
    """

    example: Counterexample | None
    ended: str = ""


def differing(
    before: ast.IRModule,
    after: ast.IRModule,
    entry: str,
    contract: str | None = None,
    assume: Sequence[str] = (),
    runs: int = RUNS,
    boundaries: Sequence[int] = (),
    special: bool = False,
    real: bool = False,
    kept: bool = False,
) -> Searched:
    """Inputs on which two programs were run and differ.

    Parameters
    ----------
    contract
        How the interface changed.
    assume
        Conditions on the shape variables of BEFORE.
    boundaries
        Numbers of the programs: sizes at which a condition may change.
    special
        Whether to try NaN, infinities, extreme integers and fine fractions, too. As exact real
        numbers, these show nothing.
    real
        Whether floats stand for exact real numbers: what differs only by rounding, or because a
        number is too large for its type, shows nothing.
    kept
        Whether AFTER has to fail where BEFORE does.
    """
    function, other = before[entry], after[entry]
    if not (isinstance(function, ast.Function) and isinstance(other, ast.Function)):
        return Searched(None)
    names = tuple(gv.name_hint for gv in after.functions)
    interface = Interface(entry, function, other, names)
    bound = bound_constants(contract, interface)
    contract = BY_PASS.get(contract or "", contract)
    pair = _Pair.loaded((before, after), interface, contract)
    if pair is None:
        return Searched(None)
    search = _InputSearch(pair, entry, function, bound, assume, real, kept)
    chosen = [*_sizes(function, SIZES, runs), *_around(function, boundaries)]
    tried = _attempts(function, chosen, boundaries, special)
    for seed, (sizes, draw) in enumerate(tried):
        if pair.work <= 0:
            ran = f"{seed} of {len(tried)} inputs"
            ended = f"the runs were ended at the limit of work, with {ran}"
            return Searched(search.weak, "" if search.weak else ended)
        found = search.example(seed, sizes, draw)
        if found is not None:
            return Searched(search.smaller(sizes, draw, chosen, len(tried)) or found)
    return Searched(search.weak)


def _attempts(
    function: ast.Function,
    chosen: Sequence[dict[tir.Var, int]],
    boundaries: Sequence[int],
    special: bool,
) -> list[tuple[dict[tir.Var, int], Draw]]:
    """Sizes, and ways to draw inputs of these sizes, the quick ones first."""
    tried: list[tuple[dict[tir.Var, int], Draw]] = [
        (sizes, _whole) for sizes in chosen for _ in range(SEEDS)
    ]
    more: list[Draw] = [partial(_near, [*boundaries, 2, 10])]
    if _takes_integers(function):
        more += [_signed, _last, _wide, _edges, *_LIMITS]
        tried += [(each, partial(_below, max(each.values(), default=0))) for each in chosen]
    tried += [(sizes, draw) for sizes in chosen[:SPECIAL] for draw in more]
    tried += [(sizes, _zeros) for sizes in chosen if 0 in sizes.values()]
    if special:
        tried += [(sizes, draw) for sizes in chosen[:SPECIAL] for draw in _SPECIAL_DRAWS]
    tried.sort(key=lambda each: max(each[0].values(), default=0) > SMALL)
    return tried


class _InputSearch:
    """A search for inputs on which two programs differ.

    Attributes
    ----------
    weak
        Inputs for which only what the programs leave in their arguments differs: others may show
        more.
    """

    def __init__(
        self,
        pair: _Pair,
        entry: str,
        function: ast.Function,
        bound: Mapping[int, ast.Constant],
        assume: Sequence[str],
        real: bool,
        kept: bool,
    ) -> None:
        self._pair, self._entry, self._function = pair, entry, function
        self._bound, self._assume = bound, assume
        self._real, self._kept = real, kept
        self.weak: Counterexample | None = None

    def example(self, seed: int, sizes: dict[tir.Var, int], draw: Draw) -> Counterexample | None:
        """Inputs of these sizes, if the results for them differ."""
        pair, real = self._pair, self._real
        made = _inputs(self._function, sizes, seed, draw)
        if made is None:
            return None
        values, numbers = made
        for k, constant in self._bound.items():
            values[k] = _constant(constant.data)
        if not _admitted(self._assume, numbers):
            return None
        shown = pair.differ(values, self._kept)
        if shown is None:
            return None
        difference, one, two = shown
        returned = isinstance(one, Returned) and isinstance(two, Returned)
        free = real or (returned and pair.rounds_freely and not _same_numbers(one, two))
        if free and isinstance(one, Returned) and pair.only_rounded(values):
            return None
        of_numbers = difference
        if real and isinstance(one, Returned) and _difference(one, two):
            of_numbers = _difference(one, two, numbers=True)  # else it is in what arguments hold
        params = [param.name_hint for param in self._function.params]
        found = Counterexample(
            self._entry,
            numbers,
            dict(zip(params, map(_plain, values), strict=True)),
            _plain(one.value) if isinstance(one, Returned) else str(one),
            _plain(two.value) if isinstance(two, Returned) else str(two),
            of_numbers or difference,
        )
        if of_numbers:
            return found
        if self.weak is None or sum(numbers.values()) < sum(self.weak.sizes.values()):
            self.weak = found
        return None

    def smaller(
        self,
        sizes: Mapping[tir.Var, int],
        draw: Draw,
        chosen: Sequence[dict[tir.Var, int]],
        first: int,
    ) -> Counterexample | None:
        """Inputs of smaller sizes for which the results differ, too, with seeds from `first` on."""
        filled = 0 not in sizes.values()  # then empty tensors say less
        less = [
            each
            for each in sorted(chosen, key=lambda each: sum(each.values()))
            if sum(each.values()) < sum(sizes.values()) and not (filled and 0 in each.values())
        ]
        tries = SMALLER // max(len(less), 1) or 1
        again = [each for each in less[:SMALLER] for _ in range(tries)]
        found = (self.example(k, each, draw) for k, each in enumerate(again, first))
        return next(filter(None, found), None)


class _Pair:
    """Two programs that are run on the same inputs."""

    def __init__(
        self,
        modules: tuple[ast.IRModule, ast.IRModule],
        programs: tuple[Any, Any],
        iterations: SharedFuel,
        interface: Interface,
        contract: str | None,
        side: _Values,
    ) -> None:
        self._modules, self._programs = modules, programs
        self._interface, self._contract, self._side = interface, contract, side
        self._iterations = iterations
        self._limits = [FUEL, FUEL]
        self._bindings = [*map(_bindings, modules)]
        self.work = WORK
        self._long_runs = LONG_RUNS

    @classmethod
    def loaded(
        cls,
        modules: tuple[ast.IRModule, ast.IRModule],
        interface: Interface,
        contract: str | None,
        backend: str = "steps",
    ) -> _Pair | None:
        """The programs, ready to run; None if one of them cannot be loaded, which shows nothing."""
        from rlx.semantics.machine import load

        def quiet(line: str) -> None:
            """Programs print nothing here."""

        side = _Values()
        lazy = {name: Packed(call, name) for name, call in side.functions.items()}
        packed = lazy if contract == "lazy" else {}
        fuel = SharedFuel(0)
        granted = {"native": LONG, "steps": WORK} if backend == "native" else fuel
        try:
            ours, theirs = (
                load(module, packed=packed, backend=backend, output=quiet, iterations=granted)
                for module in modules
            )
        except Exception:  # noqa: BLE001
            return None
        side.program = theirs
        return cls(modules, (ours, theirs), fuel, interface, contract, side)

    def differ(
        self, values: Sequence[Value], kept: bool = False
    ) -> tuple[str, Outcome, Outcome] | None:
        """The difference between the runs, and their ends; None if they agree, or show nothing.
        Inputs for which BEFORE does not return count only if its faults are ``kept``.
        """
        try:
            first = deepcopy(list(values))
            one = self._run(0, first)
            if _has_long_loops(one) and self._long_runs and self._in_machine_code is not None:
                self._long_runs -= 1
                return self._in_machine_code.differ(values, kept)
            if not (isinstance(one, Returned) or (kept and _fails(one))):
                return None
            copies = deepcopy(list(values))
            given = arguments_of(self._contract, self._interface, copies, self._side)
            two = self._run(1, given)
            if not isinstance(one, Returned):
                failed = f"AFTER returns a value, BEFORE does not: {one}"
                return (failed, one, two) if isinstance(two, Returned) else None
            two = self._side.outcome(two, one)
        except (ValueError, TypeError, MemoryError):
            return None
        if self._contract == "sizes" and isinstance(two, CheckFailed):
            return None  # perhaps AFTER does not take these sizes
        difference = _difference(one, two)
        if not difference and self._contract is None and isinstance(two, Returned):
            difference = _arguments_differ(self._interface.before, first, given)
        return (difference, one, two) if difference else None

    @cached_property
    def _in_machine_code(self) -> _Pair | None:
        """The programs with PrimFuncs in machine code, which does not notice that memory is read before it
        is written; None if those of BEFORE may do that.
        """
        if not all(map(_is_read_whole, self._modules[0].prim_funcs.values())):
            return None
        found = _Pair.loaded(self._modules, self._interface, self._contract, "native")
        if found is not None:
            found._long_runs = 0
        return found

    def _run(self, side: int, values: Sequence[Value]) -> Outcome:
        """A run of one program."""
        limit = self._limits[side]
        granted = self._iterations.left = min(limit * ITERATIONS, self.work)
        found: Outcome = self._programs[side].run(self._interface.name, values, fuel=limit)
        self.work -= granted - max(self._iterations.left, 0) + BINDING * self._bindings[side]
        if isinstance(found, OutOfFuel):
            self._limits[side] = max(limit // 4, 100)
        return found

    def only_rounded(self, values: Sequence[Value]) -> bool:
        """Whether runs with wider floats agree, or differ only because a number is too large for these, too:
        then those of smaller numbers agree.
        """
        wide = self._wide or self
        copies = deepcopy(list(values))
        tensors = [each for value in copies for each in _tensors(value)]
        if wide is self._wide:
            for each in values_inside(copies):
                if isinstance(each, Tensor) and each.dtype in _NARROW:
                    complete(each, data=each.data.astype("float64"))
                elif isinstance(each, Scalar) and str(each.dtype) in _NARROW:
                    complete(each, dtype=dtype("float64"))
        shown = wide.differ(copies)
        if shown is None:
            return True
        if not (wide.grows and _same_numbers(shown[1], shown[2])):
            return False
        for tensor in tensors:
            if tensor.data.dtype.kind == "f":
                complete(tensor, data=tensor.data * REDUCED)
        return wide.differ(copies) is None

    @cached_property
    def rounds_freely(self) -> bool:
        """Whether the programs have operators whose sums have no order, or functions whose rounding is free."""
        return any(map(_FREE_WORD.search, map(print_module, self._modules)))

    @cached_property
    def grows(self) -> bool:
        """Whether the programs have functions that are too large for any type already of small numbers."""
        return any(map(_GROWING_WORD.search, map(print_module, self._modules)))

    @cached_property
    def _wide(self) -> _Pair | None:
        """The programs with wider floats; None if they have none that could be wider, or if that
        makes other programs of them. Operators that take narrow floats only become loops.
        """
        wider = [*map(_wider, self._modules)]
        if wider == [*map(print_module, self._modules)]:
            return None
        found = [*map(check_text, wider)]
        if any(error.code == "OBL-element-type" for each in found for error in each.errors):
            found = [check_text(_wider(legalize(module))) for module in self._modules]
        if not all(each.ok and len(each.modules) == 1 for each in found):
            return None
        before, after = (each.modules[0] for each in found)
        return _Pair.loaded((before, after), self._interface, self._contract)


def _has_long_loops(outcome: Outcome) -> bool:
    """Whether a run ended because loops of PrimFuncs have more iterations than there are for it."""
    return isinstance(outcome, OutOfFuel) and outcome.code == "E-tir-fuel"


def _is_read_whole(function: tir.PrimFunc) -> bool:
    """Whether a PrimFunc is known to read only what is written, without further conditions."""
    try:
        return not read_loops(function).needs
    except Unread:
        return False


def _wider(module: ast.IRModule) -> str:
    """The text of a program in which narrow floats are wide ones, with the data of its constants: numbers
    are what they are as narrow floats.
    """

    def wide(node: Node) -> Node:
        if not (isinstance(node, ast.Literal | tir.FloatImm) and str(node.dtype) in _NARROW):
            return node
        if isinstance(node, ast.Literal) and node.content:
            content = _constant(node).data.astype("float64").tobytes()
            return replace(node, dtype=dtype("float64"), content=content)
        kind = numpy_type(node.dtype)
        if not isinstance(node.value, float) or kind is None:
            return node
        return replace(node, value=float(kind.type(node.value)))

    module = rebuild(referring(module), wide)
    text = _UNTYPED.sub(r'\1, "float32"', print_module(module))
    data = constants(module)
    return _NARROW_WORD.sub("float64", text) + (metadata_of(data) if data else "")


def _bindings(module: ast.IRModule) -> int:
    """The number of bindings in the functions of a module, outside of branches."""
    functions = module.relax_functions.values()
    bodies = [f.body for f in functions if isinstance(f.body, ast.SeqExpr)]
    return sum(len(block.bindings) for body in bodies for block in body.blocks)


REDUCED = 2.0**-16
"""The part of numbers at which exponentials of their sums of products are no longer too large."""

_GROWING_WORD = re.compile(r"\b(exp|exp2|exp10|expm1|sinh|cosh|pow|power|prod|cumprod)\b")
_FREE_WORD = re.compile(
    r"\bR\.((nn|grad|image)\.\w+|matmul|linear|outer|einsum|sum|mean|variance|std|prod|cum\w+"
    r"|exp(2|10|m1)?|log(2|10|1p|_add_exp)?|a?(sin|cos|tan)h?|erf|sigmoid|rsqrt|power)\("
)
"""Operators whose sums have no order, and functions whose rounding is free."""
_NARROW = ("float32", "float16", "bfloat16")
_UNTYPED = re.compile(r"(alloc_buffer\(\([^\"\n]*?\))(?=\)$|, \w+=)", re.MULTILINE)
"""An allocation whose type is not written, which is float32."""
_NARROW_WORD = re.compile(rf"\b({'|'.join(_NARROW)})\b")


def _constant(data: ast.Literal) -> Tensor:
    """The value of a constant."""
    import numpy as np

    term = constant_term(data)
    array = np.frombuffer(term.content, numpy_type(term.dtype)).reshape(data.shape or ())
    return Tensor(array.copy())


class _Values:
    """Arguments as values."""

    def __init__(self) -> None:
        self.program: Any = None
        self._inputs: Sequence[Value] = ()
        self._results: dict[int, Value] | None = None
        self.functions: dict[str, Callable[..., Value]] = {
            "get_item": self.get,
            "set_item": self.set,
        }

    def group(self, fields: Sequence[Value]) -> Value:
        """A tuple."""
        return TupleValue(tuple(fields))

    def fields(self, whole: Value) -> Sequence[Value] | None:
        """The fields of a tuple."""
        return whole.fields if isinstance(whole, TupleValue) else None

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """The result of a function of AFTER."""
        found = self.program.run(name, list(arguments), fuel=FUEL)
        if isinstance(found, Returned):
            return found.value
        raise ValueError(str(found))

    def get(self, number: Value, *_: Value) -> Value:
        """The packed function `get_item`."""
        assert isinstance(number, Scalar)
        return self._inputs[int(number.value)]

    def set(self, number: Value, value: Value) -> Value:
        """The packed function `set_item`."""
        assert isinstance(number, Scalar)
        if self._results is not None:
            self._results[int(number.value)] = value
        return UNIT

    def getter(self, inputs: Sequence[Value], info: ast.StructInfo) -> Value:
        """A function that gives the inputs."""
        self._inputs = inputs
        return FunctionName("get_item", info)

    def setter(self, info: ast.StructInfo) -> Value:
        """A function that takes the results."""
        self._results = {}
        return FunctionName("set_item", info)

    def outcome(self, found: Outcome, before: Returned) -> Outcome:
        """The end of a run whose results a function may have taken."""
        if not self._results or not isinstance(found, Returned):
            return found
        whole = before.value
        if not isinstance(whole, TupleValue) or 1 == len(self._results) != len(whole.fields):
            return replace(found, value=self._results[min(self._results)])
        values = tuple([self._results[k] for k in sorted(self._results)])
        return replace(found, value=TupleValue(values))


def _admitted(assume: Sequence[str], sizes: Mapping[str, int]) -> bool:
    """Whether sizes satisfy the conditions."""
    from rlx.solver.prover import Prover
    from rlx.solver.question_parser import parse

    for text in assume:
        named = {name: tir.Var(name) for name in sizes}
        condition = tir.substitute(
            parse(text, named), {named[n]: tir.IntImm(k) for n, k in sizes.items()}
        )
        if not Prover().always(condition).proved:
            return False
    return True


def lengths(function: ast.Function) -> list[tir.PrimExpr]:
    """The dimensions in the types of parameters."""
    infos = [p.struct_info_annotation for p in function.params if p.struct_info_annotation]
    return [
        number
        for each in infos
        for info in struct_infos.all_parts(each)
        if not isinstance(info, ast.PrimStructInfo)
        for number in struct_infos.numbers(info)
    ]


def scalars(function: ast.Function) -> list[tir.Var]:
    """The numbers that are the length of nothing: they may be negative."""
    infos = [param.struct_info_annotation for param in function.params]
    return may_be_negative(function.shape_vars, infos)


def _sizes(
    function: ast.Function, numbers: Sequence[int], most: int
) -> Iterator[dict[tir.Var, int]]:
    """Numbers for the shape variables of a function; first all alike, and each its own, then more of both."""
    free = list(function.shape_vars)
    if not free:
        yield from [{}] * min(most, 3)
        return
    count = 0
    for number in numbers:
        if count >= most:
            return
        yield dict.fromkeys(free, number)
        count += 1
        if count == 1 and len(free) > 1:
            yield dict(zip(free, cycle(numbers[:3]), strict=False))
    for var in scalars(function)[:BOUNDARIES]:
        yield from (dict.fromkeys(free, 2) | {var: number} for number in (-1, -3))
    if len(free) > 1:
        for number in (0, 1):  # one size alone is at its boundary
            for var in free[:BOUNDARIES]:
                yield dict.fromkeys(free, 2) | {var: number}
        if len(free) > 2:  # or it alone is not
            yield from (dict.fromkeys(free, 0) | {var: 2} for var in free[:BOUNDARIES])
        for mixed in product(numbers[:4], repeat=min(len(free), 4)):
            if len(set(mixed)) > 1:
                yield {var: mixed[k % len(mixed)] for k, var in enumerate(free)}
                count += 1
                if count >= most:
                    return


def _around(function: ast.Function, numbers: Sequence[int]) -> Iterator[dict[tir.Var, int]]:
    """Sizes just above numbers, for one variable each."""
    free = list(function.shape_vars)
    for number in numbers:
        if number + 1 not in SIZES and number <= LARGEST:
            for var in free:
                yield dict.fromkeys(free, 2) | {var: number + 1}


LARGEST = 2_048
"""The largest number of a program at which sizes are tried."""


def _inputs(
    function: ast.Function, sizes: Mapping[tir.Var, int], seed: int, draw: Draw
) -> tuple[list[Value], dict[str, int]] | None:
    """Arguments with the elements that are drawn."""
    import numpy as np

    from rlx.semantics.run.inputs import inputs

    infos = [param.struct_info_annotation for param in function.params]
    named = zip(function.params, infos, strict=True)
    others = [p.name_hint for p, info in named if not isinstance(info, ast.PrimStructInfo)]
    given = {var.name: str(size) for var, size in sizes.items() if var.name not in others}
    elements = 1
    for info in infos:
        if isinstance(info, ast.TensorStructInfo) and isinstance(info.shape, ast.ShapeExpr):
            count = 1
            for dim in info.shape.values:
                count *= (
                    dim.value if isinstance(dim, tir.IntImm) else max(sizes.values(), default=1)
                )
            elements += count
    if elements > ELEMENTS:
        return None
    try:
        made = inputs(function, given, seed)
    except (ValueError, TypeError, KeyError, MemoryError):
        return None
    random = np.random.default_rng(seed)
    values = list(made.values)
    for k, (value, info) in enumerate(zip(values, infos, strict=True)):
        if isinstance(info, ast.PrimStructInfo) and info.value is None:
            array = np.zeros((), numpy_type(info.dtype))
            array[...] = draw(random, array).astype(array.dtype)
            values[k] = Scalar(array.item(), info.dtype)
        for tensor in _tensors(value):
            array = tensor.data
            array[...] = draw(random, array).astype(array.dtype)
    return values, {name: size for name, size in made.sizes.items()}


Draw = Callable[[Any, Any], Any]
"""Elements for an array, by a generator of random numbers."""


def _whole(random: Any, array: Any) -> Any:
    """Small whole numbers, on which sums of floats are exact in any order."""
    lowest, beyond = {"b": (0, 2), "u": (0, 3), "i": (0, 3)}.get(array.dtype.kind, (-4, 5))
    return random.integers(lowest, beyond, array.shape)


def _zeros(random: Any, array: Any) -> Any:
    """0 everywhere: divided by it, a sum over nothing is no number."""
    return array * 0


def _signed(random: Any, array: Any) -> Any:
    """As small whole numbers, but integers are -1 or 0: indices may count from the end."""
    return random.integers(-1, 1, array.shape) if array.dtype.kind == "i" else _whole(random, array)


def _below(size: int, random: Any, array: Any) -> Any:
    """As small whole numbers, but integers are indices of an axis of a size."""
    ints = array.dtype.kind in "iu" and size > 0  # a scalar may be negative
    return random.integers(0, size, array.shape) if ints else _whole(random, array)


def _last(random: Any, array: Any) -> Any:
    """-1 for all integers: as an index, the last element."""
    return array * 0 - 1 if array.dtype.kind == "i" else _whole(random, array)


def _near(numbers: Sequence[int], random: Any, array: Any) -> Any:
    """Numbers of the programs, with either sign, and what is near them: floats have halves, and
    integers wrap.
    """
    import numpy as np

    if array.dtype.kind == "b":
        return _whole(random, array)
    near = random.integers(-2, 3, array.shape) / 2
    if array.dtype.kind not in "iu":
        picked = random.choice(numbers, array.shape) + near
        with np.errstate(over="ignore"):
            made = (picked * random.choice([1, 1, -1], array.shape)).astype(array.dtype)
        return np.where(np.isfinite(made), made, np.ones_like(made))
    held = np.array([number % (1 << 64) for number in numbers], np.uint64).astype(array.dtype)
    whole = random.choice(held, array.shape) + (near // 1).astype(np.int64).astype(array.dtype)
    return whole * random.choice([1, 1, -1], array.shape).astype(array.dtype)


def _wide(random: Any, array: Any) -> Any:
    """Small whole numbers, and integers of which sums wrap."""
    if array.dtype.kind not in "iu":
        return _whole(random, array)
    return random.choice(_extremes(array) // 2 + _extremes(array) // 4, array.shape)


def _edges(random: Any, array: Any) -> Any:
    """Small whole numbers, and the lowest and highest integers of a type among them."""
    return _odd(random, array) if array.dtype.kind in "iu" else _whole(random, array)


def _limit(at: int, random: Any, array: Any) -> Any:
    """Small whole numbers, and the lowest or highest integer of a type everywhere."""
    return _alike(at, random, array) if array.dtype.kind in "iu" else _whole(random, array)


def _extremes(array: Any) -> Any:
    """The numbers of an element type that programs forget."""
    import numpy as np

    if array.dtype.kind == "b":
        return np.array([False, True])
    if array.dtype.kind in "iu":
        limits = np.iinfo(array.dtype)
        return np.array([limits.min, limits.max], array.dtype)
    return np.array([-np.inf, np.inf, np.nan])


def _odd(random: Any, array: Any) -> Any:
    """Whole numbers with extremes among them."""
    import numpy as np

    picked = random.choice(_extremes(array), array.shape)
    rare = random.random(array.shape) < 0.4
    return np.where(rare, picked, _whole(random, array).astype(picked.dtype))


def _alike(at: int, random: Any, array: Any) -> Any:
    """One of the extremes everywhere."""
    found = _extremes(array)
    return found[at % len(found)]


def _fine(random: Any, array: Any) -> Any:
    """Whole numbers and fractions that a narrower float does not hold; sums of them are exact."""
    whole = _whole(random, array)
    bits = {8: 30, 4: 14}.get(array.dtype.itemsize) if array.dtype.kind == "f" else None
    return whole if bits is None else whole + random.integers(0, 8, array.shape) * 2.0**-bits


_LIMITS: tuple[Draw, ...] = tuple(partial(_limit, k) for k in range(2))
_SPECIAL_DRAWS: tuple[Draw, ...] = (_odd, _odd, _fine, *(partial(_alike, k) for k in range(3)))


def _takes_integers(function: ast.Function) -> bool:
    """Whether there are integers among the elements of the arguments, or as scalars."""
    stack = [param.struct_info_annotation for param in function.params]
    while stack:
        match stack.pop():
            case ast.TensorStructInfo(dtype=dtype) if dtype is None or dtype.is_integer:
                return True
            case ast.PrimStructInfo(dtype=dtype, value=None) if dtype.is_integer:
                return True
            case ast.TupleStructInfo(fields=fields):
                stack += fields
    return False


def _tensors(value: Value) -> Iterator[Tensor]:
    """The tensors in a value, each once."""
    return (tensor for tensor, _ in _tensor_pairs(value, value, set()))


def _tensor_pairs(
    one: Value, other: Value, seen: set[tuple[int, int]]
) -> Iterator[tuple[Tensor, Tensor]]:
    """The tensors at the same places of two values, each pair once: tuples may share their fields."""
    if (id(one), id(other)) in seen:
        return
    seen.add((id(one), id(other)))
    match one, other:
        case Tensor(), Tensor():
            yield one, other
        case TupleValue(fields=left), TupleValue(fields=right):
            for x, y in zip(left, right, strict=False):
                yield from _tensor_pairs(x, y, seen)


def _plain(value: Value) -> Any:
    from rlx.semantics.machine.numpy_conversion import to_plain

    if isinstance(value, Closure):
        return f"a function of {counted(_parameters(value), 'parameter')}"
    return to_plain(value)


def _difference(before: Returned, after: Outcome, numbers: bool = False) -> str:
    """The difference between two runs; empty if they agree, or if the second one shows nothing.
    With ``numbers``, only values that are numbers in BEFORE count, not NaN and infinities.
    """
    if isinstance(after, Returned):
        return _values_differ(before.value, after.value, "the result", numbers)
    if _fails(after):
        return f"BEFORE returns a value, AFTER does not: {after}"
    return ""


def _fails(outcome: Outcome) -> bool:
    """Whether a run ended by what the program does, not by what is around it."""
    return isinstance(outcome, CheckFailed | Fault) and outcome.code not in _ELSEWHERE


def _same_numbers(before: Outcome, after: Outcome) -> bool:
    """Whether two results are the same wherever both are numbers, not NaN or infinities."""
    import numpy as np

    if not (isinstance(before, Returned) and isinstance(after, Returned)):
        return False
    one, other = deepcopy((before.value, after.value))
    for a, b in _tensor_pairs(one, other, set()):
        if a.data.dtype.kind == b.data.dtype.kind == "f" and a.shape == b.shape:
            numbers = np.isfinite(a.data) & np.isfinite(b.data)
            for each in (a, b):
                complete(each, data=np.where(numbers, each.data, 0).astype(each.data.dtype))
    return not _values_differ(one, other, "")


def _arguments_differ(
    function: ast.Function, ours: Sequence[Value], theirs: Sequence[Value]
) -> str:
    """The difference between what two runs left in their arguments."""
    for param, one, other in zip(function.params, ours, theirs, strict=True):
        found = _values_differ(one, other, f"what is left in {param.name_hint}")
        if found:
            return found
    return ""


def _values_differ(
    one: Value,
    other: Value,
    where: str,
    numbers: bool = False,
    seen: set[tuple[int, int]] | None = None,
) -> str:
    """The difference between two values; empty if there is none. Tuples may share their fields:
    ``seen`` has the pairs that were compared.
    """
    seen = set() if seen is None else seen
    match one, other:
        case TupleValue(fields=a), TupleValue(fields=b):
            if (id(one), id(other)) in seen:
                return ""
            seen.add((id(one), id(other)))
            if len(a) != len(b):
                return f"{where} has {len(a)} fields, and {len(b)} in AFTER"
            for k, (x, y) in enumerate(zip(a, b, strict=True)):
                found = _values_differ(x, y, f"field {k} of {where}", numbers, seen)
                if found:
                    return found
            return ""
        case Tensor(), Tensor():
            return _tensors_differ(one, other, where, numbers)
        case Closure(), Closure():
            takes, takes_other = (_parameters(each) for each in (one, other))
            if takes == takes_other:
                return ""
            words = counted(takes, "parameter")
            return f"{where} is a function of {words}, and of {takes_other} in AFTER"
        case ShapeValue(values=a), ShapeValue(values=b):
            return "" if a == b else f"{where} is {a}, and {b} in AFTER"
        case Scalar(value=a), Scalar(value=b):
            return (
                "" if a == b or str(a) == str(b) == "nan" else f"{where} is {a}, and {b} in AFTER"
            )
    if type(one) is not type(other):
        return f"{where} is a {type(one).__name__}, and a {type(other).__name__} in AFTER"
    return ""


def _parameters(closure: Closure) -> int:
    """The number of arguments of a closure."""
    info: ast.FuncStructInfo = closure.code.info
    return len(info.params or ()) - len(closure.trailing)


def _tensors_differ(one: Tensor, other: Tensor, where: str, numbers: bool) -> str:
    import numpy as np

    if one.shape != other.shape:
        return f"{where} has shape {one.shape}, and {other.shape} in AFTER"
    if one.dtype != other.dtype:
        return f"{where} has type {one.dtype}, and {other.dtype} in AFTER"
    a, b = np.asarray(one.data), np.asarray(other.data)
    if a.dtype.kind in "biu":
        wrong = np.asarray(a != b)
    else:
        x, y = a.astype(np.float64), b.astype(np.float64)
        limit = TOLERANCE.get(one.dtype, 0.5)
        with np.errstate(invalid="ignore"):
            near = np.abs(x - y) <= limit * np.maximum(np.maximum(np.abs(x), np.abs(y)), 1)
        near &= np.isfinite(x) & np.isfinite(y)
        wrong = ~((x == y) | near | (np.isnan(x) & np.isnan(y)))
        wrong &= np.isfinite(x) | (not numbers)
    if not wrong.any():
        return ""
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    place = f"element {list(at)}" if at else "the element"
    return f"{place} of {where} is {a[at]}, and {b[at]} in AFTER"
