"""Resolution of names to callees: own functions, PrimFuncs, packed and run-time functions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.semantics import faults, outcome
from rlx.semantics.faults import UnsupportedStop
from rlx.semantics.machine.builtins import READING
from rlx.semantics.machine.numpy_conversion import readable
from rlx.semantics.machine.outcome_of_stop import OUTCOMES
from rlx.semantics.machine.prim_funcs import (
    PrimFuncs,
    Unwritten,
    inherited,
    kernel_arguments,
    run_prim_func,
    written,
)
from rlx.semantics.native.arrays import GUARDED
from rlx.semantics.store import Store
from rlx.semantics.values import UNIT, Device, Packed, PrimFuncValue, Scalar, Tensor, Value
from rlx.spec.registry import rule
from rlx.transform.lowering.heap import ON_HOST
from rlx.vm.callees import (
    Callee,
    OutsideFunction,
    OwnFunction,
    PackedFunction,
    missing_function,
    packed_function,
)
from rlx.vm.executable_parts import ExecutableParts
from rlx.vm.library import LIBRARY, WITH_STATE, MachineState, reporting


class Linker:
    """Resolves the names of an executable.

    Parameters
    ----------
    packed
        The user's functions by name; they hide run-time functions.
    backend
        How PrimFuncs run: ``"native"`` or ``"steps"``.
    output, devices
        See :class:`rlx.vm.VirtualMachine`.

    Attributes
    ----------
    state
        The state shared by the functions of one machine.
    prim_funcs
        The PrimFuncs of the executable in runnable form.
    batching
        Whether instructions may run in batches.
    """

    def __init__(
        self,
        executable: ExecutableParts,
        packed: Mapping[str, PackedFunction],
        backend: str,
        output: Callable[[str], None],
        devices: tuple[Device, ...] = (),
    ) -> None:
        self.executable = executable
        self.state = MachineState(output, devices, Store(self, keeping=False))
        self._packed = packed
        raw = {name: call for name, call in packed.items() if not isinstance(call, Packed)}
        self.prim_funcs = PrimFuncs(backend, None, raw)
        self.batching = backend == "native" and not GUARDED
        self._functions = {
            function.name: OwnFunction(
                function, executable.code(function), executable.signatures.get(function.name, "")
            )
            for function in executable.functions
        }
        self._found: dict[str, Callee] = {}
        self._read: dict[str, tir.PrimFunc] = {}

    @property
    def packed(self) -> frozenset[str]:
        """The names of the user's functions."""
        return frozenset(self._packed)

    def prim_func(self, name: str) -> tir.PrimFunc:
        """The PrimFunc with this name in the executable.

        Raises
        ------
        Unsupported
            ``V-name-text``: the text is not one PrimFunc.
        """
        found = self._read.get(name)
        if found is None:
            found = self._read[name] = prim_func(self.executable, name)
        return found

    def prepare(self, names: Iterable[str]) -> None:
        """Compile the PrimFuncs among these callees at once."""
        funcs = []
        for name in names:
            if name in self.executable.kernels and name not in self._packed:
                with suppress(UnsupportedStop):  # which is raised where it is called
                    func = self.prim_func(name)
                    if not func.attrs.get(ON_HOST):
                        funcs.append(func)
        self.prim_funcs.prepare(funcs)

    @property
    def read(self) -> Collection[str]:
        """The names of the PrimFuncs that were requested so far."""
        return self._read.keys()

    @property
    def notes(self) -> tuple[str, ...]:
        """The reasons why some PrimFuncs do not run natively."""
        return tuple(self.prim_funcs.notes)

    def functions(self) -> Mapping[str, OwnFunction]:
        """The functions of the executable by name."""
        return self._functions

    def callee(self, name: str) -> Callee:
        """The callee of a name. An unknown name is a fault only when it is called."""
        found = self._functions.get(name) or self._found.get(name)
        if found is None:
            found = self._found[name] = self._outside(name)
        return found

    @rule("V-name", "machine instruction")
    def _outside(self, name: str) -> OutsideFunction:
        if name in self._packed:
            return OutsideFunction(name, self._writing(packed_function(name, self._packed[name])))
        if name in self.executable.kernels:
            return OutsideFunction(name, self._kernel(name), keeps_constants=False)
        if name in self.executable.operators:
            call = _operator(name, self.executable.operators[name])
            return OutsideFunction(name, self._reading(call, "E-evaluate-written"), False, True)
        if name in LIBRARY:
            call = reporting(name)
            if name in READING:
                call = self._reading(call, "E-packed-written")
            if name == "vm.builtin.reshape":
                call = self._viewing(call)
            copying = name in ("vm.builtin.copy", "vm.builtin.move")
            return OutsideFunction(name, call, name in WITH_STATE, not copying)
        return OutsideFunction(name, missing_function(name), missing=True)

    def _writing(self, call: Callable[..., Value]) -> Callable[..., Value]:
        """A function that may write to whatever it is given."""
        store = self.state.store

        def wrote(*args: Value) -> Value:
            try:
                return call(*args)
            finally:
                if store.blank:
                    written(store, args)

        return wrote

    def _reading(self, call: Callable[..., Value], code: str) -> Callable[..., Value]:
        """A function that reads the elements of what it is given."""
        store = self.state.store

        def read(*args: Value) -> Value:
            if store.blank:
                readable(store, args, code)
            return call(*args)

        return read

    def _viewing(self, call: Callable[..., Value]) -> Callable[..., Value]:
        """A function that gives a tensor in the memory of its first argument."""
        store = self.state.store

        def viewed(*args: Value) -> Value:
            made = call(*args)
            if store.blank and isinstance(made, Tensor):
                inherited(store, args, made)
            return made

        return viewed

    def _kernel(self, name: str) -> Callable[..., Value]:
        """A PrimFunc that is read and compiled when it is first called."""
        ready: list[Callable[..., Value]] = []

        def call(*args: Value) -> Value:
            if not ready:
                ready.append(self._prepared(name))
            return ready[0](*args)

        return call

    def _prepared(self, name: str) -> Callable[..., Value]:
        func = self.prim_func(name)
        callee, runs, made = PrimFuncValue(func, name), self.prim_funcs, func.ret_type
        store = self.state.store
        blank = store.blank

        def call(*args: Value) -> Value:
            if blank and not blank.keys().isdisjoint(map(id, args)):
                run_prim_func(store, callee, args, None)
            else:
                runs.run(func, name, _arrays(args), {})
            if made is None or runs.returned is None:
                return UNIT
            return Scalar(runs.returned, made)

        return call

    # What the store asks of a program

    def run_prim_func(
        self, callee: PrimFuncValue, args: Sequence[Any], unwritten: Unwritten
    ) -> Unwritten:
        """Run a PrimFunc on arrays and numbers; see :meth:`PrimFuncs.run`."""
        return self.prim_funcs.run(callee.func, callee.name, args, unwritten)

    def only_reads(self, callee: PrimFuncValue) -> frozenset[int]:
        """The positions of the parameters that a PrimFunc reads and never writes to."""
        return self.prim_funcs.only_reads(callee.func)


def _arrays(args: tuple[Value, ...]) -> list[Any]:
    """Arguments as PrimFuncs take them."""
    found: list[Any] = []
    for arg in args:
        if type(arg) is Tensor:
            found.append(arg.data)
        elif type(arg) is Scalar:
            found.append(arg.value)
        else:
            return kernel_arguments(args)
    return found


def prim_func(executable: ExecutableParts, name: str) -> tir.PrimFunc:
    """The PrimFunc with this name in an executable.

    Raises
    ------
    Unsupported
        ``V-name-text``: the text is not one PrimFunc.
    """
    text = executable.kernels[name]
    return known(name, text) or read_prim_func(name, text)


TEXTS = 4096
"""The number of texts whose PrimFunc is cached: more than one executable has, since they are asked
for in the order in which they came.
"""


@lru_cache(maxsize=TEXTS)
def read_prim_func(name: str, text: str) -> tir.PrimFunc:
    """The PrimFunc that a text holds; machines of one executable share it.

    Raises
    ------
    Unsupported
        ``V-name-text``: the text is not one PrimFunc.
    """
    for function in _module(name, text).functions.values():
        if isinstance(function, tir.PrimFunc):
            return function
    raise UnsupportedStop("V-name-text", f"the text of {name} contains no PrimFunc")


_PRINTED: dict[tuple[str, str], tir.PrimFunc] = {}
"""PrimFuncs by their names and the texts that were printed from them."""


def know(name: str, text: str, func: tir.PrimFunc) -> None:
    """Keep the PrimFunc that a text was printed from, so that the text need not be read."""
    while len(_PRINTED) >= TEXTS:
        del _PRINTED[next(iter(_PRINTED))]
    _PRINTED[name, text] = func


def known(name: str, text: str) -> tir.PrimFunc | None:
    """The PrimFunc that a text was printed from."""
    return _PRINTED.get((name, text))


def _module(name: str, text: str) -> ast.IRModule:
    """The module of a text that an executable keeps."""
    from rlx.grammar.read.parser import parse

    parsed = parse(text, name)
    if len(parsed.modules) != 1 or any(d.is_error for d in parsed.diagnostics):
        raise UnsupportedStop("V-name-text", f"the text of {name} is not one module")
    return parsed.modules[0]


def _operator(name: str, text: str) -> Callable[..., Value]:
    """An operator that the small-step machine applies."""
    ready: list[Any] = []

    def call(*args: Value) -> Value:
        from rlx.semantics.machine import load

        if not ready:
            module = _module(name, text)
            ready.append((load(module), next(iter(module.functions)).name_hint))
        program, entry = ready[0]
        ended = program.run(entry, args)
        if isinstance(ended, outcome.Returned):
            return ended.value
        raise _STOPS[type(ended)](ended.code, f"{name}: {ended.message}")

    return call


_STOPS: dict[type, type[faults.Stop]] = {ended: stop for stop, ended in OUTCOMES.items()}
