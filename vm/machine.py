"""The virtual machine: runs the functions of an executable, and measures the times of calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any

from rlx.grammar.streams import visible
from rlx.semantics.faults import Stop
from rlx.semantics.live_memory import collecting_less
from rlx.semantics.machine.numpy_conversion import readable, to_plain, to_value
from rlx.semantics.store import Store
from rlx.semantics.values import Device, FunctionName, Value, fitted_arguments
from rlx.vm.callees import OwnFunction, PackedFunction
from rlx.vm.executable import Executable
from rlx.vm.faults import Fault, Place, RunError, run_error
from rlx.vm.linking import Linker
from rlx.vm.rules import MachineStep, Stepper, check_count, function_value
from rlx.vm.translation import Fuel, Translator, Wrap


class Profile:
    """The times of one run.

    Attributes
    ----------
    calls, seconds
        The number of calls and the total time of each name.
    total
        The time of the whole run in seconds.
    value
        The result of the run.
    """

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}
        self.seconds: dict[str, float] = {}
        self.total = 0.0
        self.value: Value | None = None

    @property
    def result(self) -> Any:
        """The result of the run, as arrays, numbers, tuples and strings."""
        return None if self.value is None else to_plain(self.value)

    def around(self, name: str, call: Callable[..., Value]) -> Callable[..., Value]:
        """Wrap a function to measure its calls."""
        self.calls.setdefault(name, 0)
        self.seconds.setdefault(name, 0.0)

        def measured(*args: Value) -> Value:
            begin = perf_counter()
            try:
                return call(*args)
            finally:
                self.seconds[name] += perf_counter() - begin
                self.calls[name] += 1

        return measured

    def __str__(self) -> str:
        """A table, the slowest first; the last line is what the machine itself took."""
        names = [name for name in self.calls if self.calls[name]]
        width = max([len("function"), len("the machine itself"), *(len(visible(n)) for n in names)])
        rows = [f"{'function':{width}}  {'calls':>9}  {'µs':>12}  {'share':>6}"]
        own = self.total - sum(self.seconds.values())
        table = sorted(
            ((self.seconds[n], visible(n), str(self.calls[n])) for n in names), reverse=True
        )
        for seconds, name, calls in [*table, (own, "the machine itself", "")]:
            share = seconds / self.total if self.total else 0.0
            rows.append(f"{name:{width}}  {calls:>9}  {seconds * 1e6:12.1f}  {share:6.1%}")
        return "\n".join(rows)


Instrument = Callable[[str, tuple[Value, ...], Value | None], None]
"""Called before each call of a packed function or PrimFunc (the result is None) and after it."""


FUEL = 20_000_000
"""The default limit of calls and backward jumps."""


class VirtualMachine:
    """Runs the functions of an executable: ``VirtualMachine(executable)["main"](x)``.

    Parameters
    ----------
    executable
        The executable to run.
    packed
        Packed functions by name. They take and return arrays, numbers, tuples and strings, and hide
        run-time functions.
    backend
        How PrimFuncs run: ``"native"``, as machine code; ``"steps"``, by the reference evaluator.
    output
        Called with each line that the program prints.
    fuel
        The maximum number of calls between functions and backward jumps in a run; None for no
        limit. The default ends an endless loop within a minute.
    devices
        The devices that allocations refer to by index.

    Attributes
    ----------
    executable
        The executable.
    translator
        The functions as Python code; its ``batches`` are the rows of instructions that run at once.

    Raises
    ------
    TypeError
        If `executable` is not an executable, or `packed` does not map names to functions.
    ValueError
        If the backend is unknown, or `fuel` is not a number.
    """

    def __init__(
        self,
        executable: Executable,
        packed: Mapping[str, PackedFunction] | None = None,
        *,
        backend: str = "native",
        output: Callable[[str], None] = print,
        fuel: int | None = FUEL,
        devices: Sequence[Device] = (),
    ) -> None:
        if not isinstance(executable, Executable):
            raise TypeError(f"expected an Executable, found {type(executable).__name__}")
        if backend not in ("native", "steps"):
            raise ValueError(f"backend: expected 'native' or 'steps', found {backend!r}")
        _check_packed(packed)
        if fuel is not None and (type(fuel) is not int or fuel < 0):
            raise ValueError(f"fuel: expected a number of calls or None, found {fuel!r}")
        self.executable = executable
        self._packed, self._backend = dict(packed or {}), backend
        self._output, self._devices = output, tuple(devices)
        self._fuel = fuel
        self._inputs: dict[str, tuple[Value, ...]] = {}
        self._outputs: dict[str, Value] = {}
        self._saved: dict[str, Callable[[], Any]] = {}
        self._instrument: Instrument | None = None
        self._link(None)

    def _link(self, wrap: Wrap | None) -> None:
        self._linker = Linker(
            self.executable, self._packed, self._backend, self._output, self._devices
        )
        self._counter = Fuel(self._fuel)
        self.translator = Translator(self._linker, self._counter, wrap)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about the results: PrimFuncs that did not run natively, and C code in the file that
        was not used.
        """
        from rlx.vm.shipped_code import differing

        others = differing(self.executable, self._linker.read)
        words = "the C in the file differs from that of its PrimFunc and was not used"
        return (*self._linker.notes, *(f"{name}: {words}" for name in others))

    @property
    def hidden(self) -> frozenset[str]:
        """The names of run-time functions that the user's functions and the PrimFuncs hide."""
        return self._linker.packed.union(self.executable.kernels)

    @property
    def store(self) -> Store:
        """Information about memory that was not written yet."""
        return self._linker.state.store

    def __getitem__(self, name: str) -> Callable[..., Any]:
        """The function of that name: it takes arrays, numbers, tuples and strings, and gives such.

        Raises
        ------
        KeyError
            If there is none.
        """
        if isinstance(name, str) and name in self._saved:
            return self._saved[name]
        self.executable.function(name)
        return lambda *args: to_plain(self.invoke(name, [self._value(arg) for arg in args]))

    def _value(self, arg: Any) -> Value:
        if hasattr(arg, "__dlpack__") and not hasattr(arg, "__array_interface__"):
            arg = arg.numpy()
        try:
            return to_value(arg)
        except Stop as stop:
            raise run_error(stop, None, ()) from None

    def invoke(self, name: str, args: Sequence[Value]) -> Value:
        """Call a function with values and return its result.

        Raises
        ------
        CheckFailed, Fault, OutOfFuelError, UnsupportedError
            If the run ends without a value.
        KeyError
            If there is no such function.
        """
        self.executable.function(name)
        function = self._linker.functions()[name]
        self._counter.fill()
        stack: list[Any] = []
        store = self._linker.state.store
        try:
            given = fitted_arguments(args, self._function)
            check_count(function, len(given))
            with collecting_less():
                value = self._run(function, given, stack)
            readable(store, (value,), "E-return-written")
            return value
        except Stop as stop:
            raise run_error(stop, *self._places(stop, stack)) from stop.__cause__
        except MemoryError as error:
            raise Fault("E-alloc-size", f"out of memory: {error}") from error
        finally:
            store.blank.clear()

    def _function(self, wanted: FunctionName) -> Value:
        return function_value(self._linker, wanted.name)

    def _run(self, function: OwnFunction, args: tuple[Value, ...], stack: list[Any]) -> Value:
        """Run a function; ``stack`` holds those that wait for others, also after a fault."""
        translate, use = self.translator.translate, self._counter.use
        if function.run is None:
            translate(function)
        current = function.run(*args)  # type: ignore[misc]
        if not function.suspends:
            value: Value = current
            return value
        stack.append(current)
        asked = current.send(None)
        while True:
            if type(asked) is tuple:
                use()
                callee, given = asked
                if callee.run is None:
                    translate(callee)
                made = callee.run(*given)
                if callee.suspends:
                    stack.append(made)
                    current = made
                    asked = current.send(None)
                else:
                    asked = current.send(made)
            else:
                stack.pop()
                if not stack:
                    returned: Value = asked
                    return returned
                current = stack[-1]
                asked = current.send(asked)

    def _places(self, stop: Stop, stack: list[Any]) -> tuple[Place | None, tuple[Place, ...]]:
        """The place where a run stopped, and those of the open calls."""
        inner: Place | None = None
        trace = stop.__traceback__
        place = self.translator.place
        while trace is not None:
            inner = place(trace.tb_frame.f_code, trace.tb_lineno, stop) or inner
            trace = trace.tb_next
        waiting = [
            place(each.gi_code, each.gi_frame.f_lineno, None) for each in stack if each.gi_frame
        ]
        calls = [found for found in waiting if found is not None]
        if inner is None and calls:
            inner = calls.pop()
        return inner, tuple(calls)

    # Step by step

    def steps(
        self, name: str, *args: Any, fuel: int | None = None
    ) -> Iterator[MachineStep | Value]:
        """Run step by step: yield each instruction before it runs, and the result at the end.

        Raises
        ------
        CheckFailed, Fault, OutOfFuelError, UnsupportedError, KeyError
            As :meth:`invoke` does.
        """
        self.executable.function(name)
        stepper: Stepper | None = None
        try:
            given = fitted_arguments([self._value(arg) for arg in args], self._function)
            stepper = Stepper(self._linker, self._linker.functions()[name], given)
            yield from stepper.steps(fuel)
        except Stop as stop:
            stack = stepper.stack if stepper else []
            places = [(each.function.function.name, each.at) for each in stack]
            where = places.pop() if places else None
            calls = tuple((function, at - 1) for function, at in places)
            raise run_error(stop, where, calls) from stop.__cause__
        assert stepper.result is not None
        yield stepper.result

    # Inputs that are set before the call

    def set_input(self, name: str, *args: Any) -> None:
        """Set the arguments that :meth:`invoke_stateful` calls a function with.

        Raises
        ------
        KeyError
            If there is no such function.
        ValueError
            If it takes another number of arguments.
        """
        wanted = self.executable.function(name).num_inputs
        if len(args) != wanted:
            raise ValueError(f"{name} takes {wanted} arguments, found {len(args)}")
        self._inputs[name] = tuple(self._value(arg) for arg in args)

    def invoke_stateful(self, name: str) -> None:
        """Call a function with the arguments that were set; :meth:`get_outputs` returns the result.

        Raises
        ------
        ValueError
            If no arguments were set.
        """
        self.executable.function(name)
        if name not in self._inputs:
            raise ValueError(f"set_input({name!r}, …) comes before invoke_stateful({name!r})")
        self._outputs[name] = self.invoke(name, self._inputs[name])

    def get_outputs(self, name: str) -> Any:
        """The result of the last :meth:`invoke_stateful` of a function.

        Raises
        ------
        ValueError
            If it was not called.
        """
        self.executable.function(name)
        if name not in self._outputs:
            raise ValueError(f"invoke_stateful({name!r}) comes before get_outputs({name!r})")
        return to_plain(self._outputs[name])

    def save_function(
        self, name: str, saved_name: str, *args: Any, include_return: bool = True
    ) -> None:
        """Bind arguments to a function and store it under another name, which then takes no
        arguments.

        Raises
        ------
        KeyError
            If there is no such function.
        ValueError
            If the other name is taken or invalid.
        """
        self.executable.function(name)
        if not isinstance(saved_name, str) or not saved_name:
            raise ValueError(f"expected a name for the saved function, found {saved_name!r}")
        if any(function.name == saved_name for function in self.executable.functions):
            raise ValueError(f"a function {saved_name!r} exists already")
        values = tuple(self._value(arg) for arg in args)

        def run() -> Any:
            result = self.invoke(name, values)
            return to_plain(result) if include_return else None

        self._saved[saved_name] = run

    # Looking on

    def set_instrument(self, instrument: Instrument | None) -> None:
        """Set a function to call around each packed function or PrimFunc; None unsets it.

        Raises
        ------
        TypeError
            If it is neither.
        """
        if instrument is not None and not callable(instrument):
            raise TypeError(f"expected a function or None, found {instrument!r}")

        def wrap(name: str, call: Callable[..., Value]) -> Callable[..., Value]:
            def watched(*args: Value) -> Value:
                assert instrument is not None
                instrument(name, args, None)
                result = call(*args)
                instrument(name, args, result)
                return result

            return watched

        self._link(None if instrument is None else wrap)

    def profile(self, name: str, *args: Any) -> Profile:
        """Call a function and measure the time that each packed function and PrimFunc takes."""
        return self.profile_values(name, [self._value(arg) for arg in args])

    def profile_values(self, name: str, values: Sequence[Value]) -> Profile:
        """The same for arguments that are values; ``value`` of the profile is the result of the
        run.
        """
        found = Profile()
        before = self._linker, self._counter, self.translator
        self._link(found.around)
        try:
            begin = perf_counter()
            found.value = self.invoke(name, values)
            found.total = perf_counter() - begin
        finally:
            self._linker, self._counter, self.translator = before
        return found


def _check_packed(packed: object) -> None:
    if packed is None:
        return
    if not isinstance(packed, Mapping):
        raise TypeError(f"packed: expected names with functions, found {packed!r}")
    for name, call in packed.items():
        if not isinstance(name, str):
            raise TypeError(f"packed: expected the name of a function, found {name!r}")
        if not callable(getattr(call, "call", call)):
            raise TypeError(f"packed[{name!r}]: expected a function, found {call!r}")


__all__ = ["RunError", "VirtualMachine"]
