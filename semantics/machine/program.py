"""Runnable modules."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from rlx.checker.normalize import normalize
from rlx.checker.settled import settled
from rlx.checker.well_formed.functions import is_private
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.vdevices import declared
from rlx.grammar.nodes.visit import expressions
from rlx.semantics import faults
from rlx.semantics.live_memory import collecting_less
from rlx.semantics.machine.builtins import BUILTINS
from rlx.semantics.machine.compile import Compiler
from rlx.semantics.machine.configuration import Configuration, Frame, Instruction, Variable
from rlx.semantics.machine.expression_rules import call_closure, enter
from rlx.semantics.machine.numpy_conversion import to_plain, to_value
from rlx.semantics.machine.outcome_of_stop import ended
from rlx.semantics.machine.prim_funcs import PrimFuncs, Unwritten
from rlx.semantics.outcome import Outcome
from rlx.semantics.store import Store
from rlx.semantics.struct_info_of import SIGNATURE
from rlx.semantics.struct_info_of import declared as declared_type
from rlx.semantics.values import (
    Closure,
    FunctionName,
    Packed,
    PrimFuncValue,
    Value,
    fitted_arguments,
)
from rlx.spec.registry import rule, rule_of

if TYPE_CHECKING:
    from rlx.checker.derive import Derivation
    from rlx.semantics.tir import SharedFuel


External = Packed | Callable[..., Any]
"""A packed function: a :class:`Packed` takes and returns values; any other callable takes and
returns arrays, numbers, tuples and strings.
"""


class MachineProgram:
    """A module in normal form, ready to run.

    Attributes
    ----------
    module
        The module in normal form; the expressions of configurations are its nodes.
    output
        Called with each line that the program prints.
    notes
        Notes about the results: PrimFuncs that did not run natively.
    """

    def __init__(
        self,
        module: ast.IRModule,
        packed: Mapping[str, External],
        backend: str,
        output: Callable[[str], None],
        iterations: int | SharedFuel | Mapping[str, int] | None,
    ) -> None:
        self.module = settled(normalize(module))
        self.output = output
        self._external = {name: external(name, call) for name, call in packed.items()}
        self._prim_funcs = PrimFuncs(
            backend, iterations, {n: f for n, f in packed.items() if not isinstance(f, Packed)}
        )
        self._ahead: ast.Function | tir.PrimFunc | None = None
        compiler = self._compiler = Compiler(self._external, self._typed)
        self._globals: dict[str, Value] = {}
        for var, function in self.module.functions.items():
            name = var.name_hint
            if isinstance(function, tir.PrimFunc):
                value: Value = PrimFuncValue(function, name)
                if not is_private(function):
                    symbol = function.attrs.get("global_symbol", name)
                    self._external.setdefault(str(symbol), value)  # type: ignore[arg-type]
            else:
                value = Closure(compiler.function(function, name))
            compiler.values[var] = self._globals[name] = value

    @cached_property
    def devices(self) -> tuple[tuple[str, int], ...]:
        """The virtual devices of the module, in order."""
        return declared(self.module)

    @cached_property
    def _derived(self) -> Derivation:
        """The derivation of the module."""
        from rlx.checker.derive import derive

        return derive(self.module)

    def _typed(self, function: ast.Function) -> ast.FuncStructInfo:
        """The type of a function: as declared, with a result that is derived from its body where it
        is not annotated.
        """
        if function.ret_struct_info is None and SIGNATURE not in function.attrs:
            known = self._derived
            found = known.info.get(function)
            if isinstance(found, ast.FuncStructInfo) and function not in known.poison:
                return found
        return declared_type(function)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for readers of the results."""
        return tuple(self._prim_funcs.notes)

    def external(self, name: str) -> Value | None:
        """The value of an external name: a function registered by the caller, of the module, or of
        the run time.
        """
        return self._external.get(name) or BUILTINS.get(name)

    def _function(self, wanted: FunctionName) -> Value | None:
        """The function that an argument names; a packed one gets the type of its parameter."""
        found = self._globals.get(wanted.name) or self.external(wanted.name)
        info = wanted.info
        if isinstance(found, Packed) and isinstance(info, ast.FuncStructInfo) and info.params:
            return Closure(self._compiler.function(_wrapper(wanted.name, info), wanted.name))
        return found

    def run_prim_func(
        self, callee: PrimFuncValue, args: Sequence[Any], unwritten: Unwritten
    ) -> Unwritten:
        """Run a PrimFunc on arrays and numbers; see :meth:`PrimFuncs.run`. Those that the same
        function calls are compiled with the first of them.
        """
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            named = (n.name_hint for n in expressions(ahead) if isinstance(n, ast.GlobalVar))
            known = (self._globals.get(name) for name in named)
            self._prim_funcs.prepare([f.func for f in known if isinstance(f, PrimFuncValue)])
        return self._prim_funcs.run(callee.func, callee.name, args, unwritten)

    def returned(self) -> int | float | None:
        """The value that the last PrimFunc returned, if any."""
        return self._prim_funcs.returned

    def only_reads(self, callee: PrimFuncValue) -> frozenset[int]:
        """The positions of the parameters that a PrimFunc reads and never writes to."""
        return self._prim_funcs.only_reads(callee.func)

    def writes(self, callee: PrimFuncValue) -> frozenset[int]:
        """The positions of the parameters that a PrimFunc may write to."""
        return self._prim_funcs.writes(callee.func)

    def start(
        self, entry: str, args: Sequence[Value], *, keep: bool = True
    ) -> Configuration | Outcome:
        """The first configuration of a run.

        Parameters
        ----------
        entry
            The name of a function of the module.
        args
            Its arguments.
        keep
            Whether old configurations can be inspected and continued. If not, a run does not copy
            overwritten memory.

        Raises
        ------
        KeyError
            If the module has no such function.
        """
        callee = self._globals.get(entry)
        if not isinstance(callee, Closure):
            raise KeyError(f"the module has no function {entry!r}")
        self._ahead = self.module[entry]
        store = Store(self, keep)
        try:
            args = fitted_arguments(args, self._function)
            frame = enter(callee, args, None, None)
        except Exception as stop:  # noqa: BLE001 - a mistake of ours is an outcome, too
            return ended(stop, None, rule_of(call_closure), tuple(args), callee.code.span)
        return Configuration(frame.code.entry, frame, "", store.version)

    def step(self, configuration: Configuration) -> Configuration | Outcome:
        """The next configuration, or the outcome."""
        version = configuration.version
        if version.next is not None:
            version.store.show(version)
        try:
            return configuration.at.apply(configuration.at, configuration)
        except Exception as stop:  # noqa: BLE001 - a mistake of ours is an outcome, too
            return ended(stop, configuration)

    def trace(
        self, entry: str, args: Sequence[Value], limit: int | None = None
    ) -> Iterator[Configuration | Outcome]:
        """The configurations of a run, at most ``limit`` of them, and the outcome."""
        return islice(self._configurations(entry, args), limit)

    def _configurations(
        self, entry: str, args: Sequence[Value]
    ) -> Iterator[Configuration | Outcome]:
        now = self.start(entry, args)
        while isinstance(now, Configuration):
            yield now
            now = self.step(now)
        yield now

    def run(self, entry: str, args: Sequence[Value], fuel: int | None = None) -> Outcome:
        """Run to the end.

        Parameters
        ----------
        fuel
            The maximum number of steps.

        Raises
        ------
        KeyError
            If the module has no such function.
        """
        now = self.start(entry, args, keep=False)
        if not isinstance(now, Configuration):
            return now
        try:
            with collecting_less():
                for _ in range(sys.maxsize if fuel is None else fuel):
                    after = now.at.apply(now.at, now)
                    if type(after) is not Configuration:
                        assert isinstance(after, Outcome)
                        return after
                    now = after
        except Exception as stop:  # noqa: BLE001 - a mistake of ours is an outcome, too
            return ended(stop, now)
        return ended(out_of_fuel(fuel), now)


def load(
    module: ast.IRModule,
    *,
    packed: Mapping[str, External] | None = None,
    backend: str = "native",
    output: Callable[[str], None] = print,
    iterations: int | SharedFuel | Mapping[str, int] | None = None,
) -> MachineProgram:
    """Prepare a module to run.

    Parameters
    ----------
    module
        Any module; a construct that the checker would reject ends a run when it is reached.
    packed
        The external functions that the program may call, by name.
    backend
        How PrimFuncs run: ``"native"`` as machine code, ``"steps"`` by the reference evaluator.
    output
        Called with each line that the program prints.
    iterations
        Fuel for the loops of each run of a PrimFunc (E-tir-fuel): one number, or one for each way
        in which they run, ``"native"`` and ``"steps"``; a :class:`rlx.semantics.tir.SharedFuel` that all
        runs by the reference evaluator share; None for no limit.
    """
    return MachineProgram(module, packed or {}, backend, output, iterations)


@rule("E-fuel", "part of a step", refuses=True)
def out_of_fuel(fuel: int | None) -> faults.OutOfFuelStop:
    """The outcome of a run that has used up its fuel."""
    return faults.OutOfFuelStop("E-fuel-left", f"the run did not end within {fuel} steps")


def _wrapper(name: str, info: ast.FuncStructInfo) -> ast.Function:
    """A function of a type, whose body is a call of a packed function."""
    params = tuple(ast.Var(f"a{at}", each) for at, each in enumerate(info.params or ()))
    callee = ast.ExternFunc(name)
    call = (
        ast.Call(ast.Op("relax.call_pure_packed"), (callee, *params), sinfo_args=(info.ret,))
        if info.purity
        else ast.Call(callee, params, sinfo_args=(info.ret,))
    )
    result = ast.Var("result")
    body = ast.SeqExpr((ast.BindingBlock((ast.VarBinding(result, call),)),), result)
    return ast.Function(params, body, info.ret, info.purity, shape_vars=info.binders)


def external(name: str, call: External) -> Packed:
    """A packed function as a value."""
    if isinstance(call, Packed):
        return call

    def convert(*args: Value) -> Value:
        return to_value(call(*[to_plain(arg) for arg in args]), args)

    return Packed(convert, name)


# ---------------------------------------------------------------- inspection of configurations


def environment(configuration: Configuration) -> dict[Variable, Any]:
    """The visible variables at the redex with their values, with shape variables as numbers.

    Variables of dataflow blocks that have ended are not included.
    """
    found: dict[Variable, Any] = {}
    frames = [configuration.frame]
    for var, hops, index in configuration.at.scope.seen(configuration.at.serial):
        while len(frames) <= hops:
            outer = frames[-1].outer
            assert outer is not None
            frames.append(outer)
        found[var] = frames[hops].slots[index]
    return found


def stack(configuration: Configuration) -> Iterator[tuple[Frame, Instruction[Any]]]:
    """The frames with their current instructions, innermost first."""
    frame: Frame | None = configuration.frame
    at = configuration.at
    while frame is not None:
        yield frame, at
        at, frame = frame.resume, frame.caller
