"""Passes and their composition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, Self, TypeVar

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.python_places import (
    MisuseError,
    callable_of,
    described,
    here,
    listed,
    of_kind,
    spelt,
)
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.solver.budget import undisturbed

Hook = Callable[["ModulePass", IRModule], None]
"""Called with a pass and the module before or after it."""


class PassError(ValueError):
    """A module that a pass rejects; the message says which precondition fails."""


N = TypeVar("N")


class PassInfo(Record):
    """The name of a pass, and its level."""

    name: str
    opt_level: int


class ModulePass:
    """A named function from modules to modules. The given module is not changed.

    Attributes
    ----------
    opt_level
        The least level of the :class:`PassContext` at which a :class:`Sequential` runs the pass.
    """

    opt_level = 0

    @property
    def name(self) -> str:
        """The name of the pass."""
        return type(self).__name__

    @property
    def info(self) -> PassInfo:
        """The name and the level of the pass."""
        return PassInfo(self.name, self.opt_level)

    def __call__(self, module: IRModule) -> IRModule:
        """The module after the pass.

        Raises
        ------
        PassError
            If the module is not one that the pass takes.
        MisuseError
            If `module` is none.
        """
        if not isinstance(module, IRModule):
            words = f"{self.name} takes a module, found {type(module).__name__}: rlx.load reads one"
            raise MisuseError(words, here())
        context = PassContext.current()
        with undisturbed():
            return (
                module
                if not context.begins(self, module)
                else context.ends(self, self.apply(module))
            )

    def apply(self, module: IRModule) -> IRModule:
        """The transformed module."""
        raise NotImplementedError(f"{self.name} has no apply")

    def refuse(self, function: str, found: str, mend: str) -> PassError:
        """The error for a failing precondition."""
        return PassError(f"{self.name}: {function} has {found}; {mend}")

    def __repr__(self) -> str:
        return f"{self.name}()"


class PassInstrument(Protocol):
    """Methods that a :class:`PassContext` calls around each pass. All may be missing."""

    def should_run(self, module: IRModule, each: ModulePass) -> bool:
        """Whether a pass runs; otherwise it leaves the module as it is."""

    def run_before_pass(self, module: IRModule, each: ModulePass) -> None:
        """Called before a pass, with its module."""

    def run_after_pass(self, module: IRModule, each: ModulePass) -> None:
        """Called after a pass, with the new module."""


_CALLED = (
    *("should_run", "run_before_pass", "run_after_pass"),
    *("enter_pass_ctx", "exit_pass_ctx"),
)
"""The methods of instruments that are called."""


class PassContext:
    """Settings of the passes that run in its ``with`` statement.

    Parameters
    ----------
    instruments
        Objects with the methods of :class:`PassInstrument`, called in order around each pass.
    disabled_pass
        The names of passes that a :class:`Sequential` leaves out.
    opt_level
        A :class:`Sequential` leaves out passes of higher levels.
    required_pass
        The names of passes that run at any level.
    config
        Values by name, for passes of users, which read `context.config`; the passes of rlx have
        arguments instead.
    """

    @spelt
    def __init__(
        self,
        opt_level: int = 2,
        *,
        instruments: Sequence[object] = (),
        disabled_pass: Sequence[str] = (),
        required_pass: Sequence[str] = (),
        config: Mapping[str, object] | None = None,
    ) -> None:
        given = {} if config is None else of_kind(config, Mapping, "config: values by name")  # type: ignore[type-abstract]
        self.config = dict(given)
        self.opt_level = of_kind(opt_level, int, "an opt_level such as 2")
        self.required_pass = _names(required_pass, "required_pass")
        self.disabled_pass = _names(disabled_pass, "disabled_pass")
        self.instruments = _instruments(instruments)

    @staticmethod
    def current() -> PassContext:
        """The context of the innermost ``with`` statement; one without instruments outside."""
        return _CONTEXTS[-1]

    def __enter__(self) -> Self:
        self._told("enter_pass_ctx")
        _CONTEXTS.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        _CONTEXTS.remove(self)
        self._told("exit_pass_ctx")

    def _told(self, method: str, *args: object) -> list[object]:
        found = (getattr(each, method, None) for each in self.instruments)
        return [call(*args) for call in found if call is not None]

    def override_instruments(self, instruments: Sequence[object]) -> None:
        """Use other instruments from now on; those that go are told that they leave."""
        new = _instruments(instruments)
        self._told("exit_pass_ctx")
        self.instruments = new
        self._told("enter_pass_ctx")

    def wants(self, each: ModulePass) -> bool:
        """Whether a pass of a sequence runs."""
        if each.name in self.disabled_pass:
            return False
        return each.opt_level <= self.opt_level or each.name in self.required_pass

    def begins(self, each: ModulePass, module: IRModule) -> bool:
        """Tell the instruments that a pass begins; whether it runs."""
        if not all(self._told("should_run", module, each)):
            return False
        self._told("run_before_pass", module, each)
        return True

    def ends(self, each: ModulePass, module: IRModule) -> IRModule:
        """Tell the instruments that a pass has ended, and return its module."""
        self._told("run_after_pass", module, each)
        return module


def _names(given: Sequence[str], what: str) -> frozenset[str]:
    for each in given if isinstance(given, list | tuple) else ():
        name = each.name if isinstance(each, ModulePass) else getattr(each, "__name__", None)
        if not isinstance(each, str) and name is not None:
            raise MisuseError(f"{what} has names: write {name!r}, not the pass itself", here())
    return frozenset(listed(given, f"{what}: names of passes", str))


def _instruments(given: Sequence[object]) -> tuple[object, ...]:
    found = listed(given, "instruments", object)
    for each in found:
        if isinstance(each, type) or not any(hasattr(each, name) for name in _CALLED):
            hint = ": write the parentheses" if isinstance(each, type) else ""
            words = f"expected an instrument, which has one of {', '.join(_CALLED)}; found"
            raise MisuseError(f"{words} {described(each)}{hint}", here())
    return found


_CONTEXTS: list[PassContext] = [PassContext()]


class FunctionalPass(ModulePass):
    """A pass made of a function. `change`: called with the module and the current
    :class:`PassContext`; returns the new module.
    """

    def __init__(
        self,
        change: Callable[[IRModule, PassContext], IRModule],
        name: str,
        opt_level: int = 0,
    ) -> None:
        self._change, self._name, self.opt_level = change, name, opt_level

    @property
    def name(self) -> str:
        """The name of the pass."""
        return self._name

    def apply(self, module: IRModule) -> IRModule:
        """The module that the function returns for a module."""
        found = self._change(module, PassContext.current())
        if not isinstance(found, IRModule):
            raise MisuseError(
                f"{self.name} returned {type(found).__name__}, expected a module", here()
            )
        return found


@spelt
def module_pass(pass_func: Any = None, opt_level: int = 0, *, name: str | None = None) -> Any:
    """Make a pass of ``f(module, context)``, or of a class with ``transform_module``.

    Used as ``@module_pass`` or ``@module_pass(name="Name")``. The class is then called with its
    own arguments and returns a pass.
    """
    return _decorated(pass_func, name, opt_level, "transform_module", lambda change: change)


@spelt
def function_pass(pass_func: Any = None, opt_level: int = 0, *, name: str | None = None) -> Any:
    """Make a pass of ``f(function, module, context)``, which is called with each Relax function and
    returns the new one, or of a class with ``transform_function``.
    """
    return _decorated(pass_func, name, opt_level, "transform_function", _of_functions)


@spelt
def dataflowblock_pass(
    pass_func: Any = None, opt_level: int = 0, *, name: str | None = None
) -> Any:
    """Make a pass of ``f(block, module, context)``, which is called with each dataflow block and
    returns the new one, or of a class with ``transform_dataflowblock``.
    """
    return _decorated(pass_func, name, opt_level, "transform_dataflowblock", _of_blocks)


Change = Callable[[IRModule, PassContext], IRModule]


_TAKES = {
    "transform_module": ("a module and the context", 2),
    "transform_function": ("a function, its module and the context", 3),
    "transform_dataflowblock": ("a dataflow block, its module and the context", 3),
}
"""The parameters of a user's function in place of each method, and their number."""


def _decorated(
    given: Any, name: str | None, level: int, method: str, lifted: Callable[[Any], Change]
) -> Any:
    if given is None:
        return lambda later: _decorated(later, name, level, method, lifted)
    if not callable(given):
        words = f"expected a function or a class with {method}, found {described(given)}"
        raise MisuseError(words, here())
    own = getattr(given, "__name__", type(given).__name__)
    word = own if name is None else of_kind(name, str, "a name")
    of_kind(level, int, "an opt_level such as 0")
    if isinstance(given, type):
        if not hasattr(given, method):
            raise MisuseError(f"{word} has no method {method}", here())

        def made(*args: Any, **keywords: Any) -> ModulePass:
            return FunctionalPass(lifted(getattr(given(*args, **keywords), method)), word, level)

        made.__name__ = word
        return made
    callable_of(given, *_TAKES[method])
    return FunctionalPass(lifted(given), word, level)


def _expected(found: Any, kind: type[N], what: str, change: Callable[..., object]) -> N:
    """The value that the user's function returned. Raises MisuseError if it is of another kind."""
    if isinstance(found, kind):
        return found
    name = getattr(change, "__qualname__", repr(change))
    raise MisuseError(f"{name} returned {type(found).__name__}, expected {what}", here())


def _of_functions(change: Callable[[ast.Function, IRModule, PassContext], ast.Function]) -> Change:
    def whole(module: IRModule, context: PassContext) -> IRModule:
        return module.map_relax_functions(
            lambda _, function: _expected(
                change(function, module, context), ast.Function, "a function", change
            )
        )

    return whole


def _of_blocks(
    change: Callable[[ast.DataflowBlock, IRModule, PassContext], ast.DataflowBlock],
) -> Change:
    def whole(module: IRModule, context: PassContext) -> IRModule:
        class OnBlocks(Rewriter):
            def block(self, block: ast.BindingBlock) -> ast.BindingBlock:
                made = super().block(block)
                if not isinstance(made, ast.DataflowBlock):
                    return made
                found = change(made, module, context)
                return _expected(found, ast.DataflowBlock, "a dataflow block", change)

        return OnBlocks().module(module)

    return whole


def _as_pass(given: Callable[[IRModule], IRModule]) -> ModulePass:
    if isinstance(given, ModulePass):
        return given
    name = getattr(given, "__name__", type(given).__name__)
    callable_of(given, "a module", 1)
    return FunctionalPass(lambda module, _: given(module), name)


class Sequential(ModulePass):
    """A sequence of passes.

    Parameters
    ----------
    passes
        The passes, in order; functions from modules to modules, too.
    before, after
        Called before and after each pass, with the pass and the module.
    name, opt_level
        Its own name and level, for a sequence inside another one.
    """

    @spelt
    def __init__(
        self,
        passes: Sequence[ModulePass | Callable[[IRModule], IRModule]],
        opt_level: int = 0,
        name: str = "sequential",
        *,
        before: Hook | None = None,
        after: Hook | None = None,
    ) -> None:
        if not isinstance(passes, list | tuple):
            raise MisuseError(f"Sequential takes a list of passes, found {passes!r}", here())
        for each in passes:
            if isinstance(each, type) or not callable(each):
                hint = ": write the parentheses" if isinstance(each, type) else ""
                raise MisuseError(f"Sequential takes passes, found {each!r}{hint}", here())
        self.passes = tuple(map(_as_pass, passes))
        for hook in (before, after):
            if hook is not None:
                callable_of(hook, "a pass and a module", 2)
        self._before, self._after = before, after
        self.opt_level = of_kind(opt_level, int, "an opt_level such as 0")
        self._name = of_kind(name, str, "a name")

    @property
    def name(self) -> str:
        """The name of the sequence."""
        return self._name

    def apply(self, module: IRModule) -> IRModule:
        """The module after the last pass."""
        wants = PassContext.current().wants
        for each in filter(wants, self.passes):
            if self._before is not None:
                self._before(each, module)
            module = each(module)
            if self._after is not None:
                self._after(each, module)
        return module

    def __repr__(self) -> str:
        return f"Sequential([{', '.join(map(repr, self.passes))}])"
