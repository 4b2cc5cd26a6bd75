"""An instrument for TVM's PassContext that looks at a module after each pass."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlx.subject import flag, shown, whole_number
from rlx.tvm.known import by_choice
from rlx.tvm.watch import SIZES, Problem, Refined, Watch

if TYPE_CHECKING:
    from rlx.comparison.weights import Weights


class Instrument:
    """Checks the module after each pass; made for ``tvm.transform.PassContext(instruments=[…])``.

    Parameters
    ----------
    run
        Whether to also run the functions before and after each pass, and compare the results.
    sizes
        The values of shape variables in these runs. TVM's code for dimensions of 0 is often wrong,
        so the default has no 0.
    stop
        Whether the first problem stops the pipeline with a ``RuntimeError``; otherwise all are
        collected.
    seed
        The seed of the inputs.
    refine
        Whether to prove after each pass that the module means the same, for all sizes and inputs.
        What a run refutes is a problem; the rest is in `refined`.
    known
        A folder of findings; no pass is to blame for what one of the kind ``by-choice`` describes.

    Attributes
    ----------
    problems
        The problems: the pass, and its effect.
    seen
        The passes after which the module was checked.
    not_compared
        Why runs before and after passes were not compared.
    refined
        Whether each pass that changed the module kept its meaning: the pass, and ``"proved"``,
        ``"refuted"``, ``"only run"``, ``"unknown"`` or ``"not compared"``.

    Raises
    ------
    ImportError
        If TVM is not installed.
    TypeError, ValueError
        If an argument is of another kind, or negative.
    EntryError
        If a file in `known` is no finding.

    Notes
    -----
    Modules without a Relax function (as in later stages of a build) are skipped.
    """

    seen: list[str]
    problems: list[Problem]
    not_compared: list[str]
    refined: list[Refined]

    def __new__(
        cls,
        *,
        run: bool = False,
        refine: bool = False,
        sizes: Sequence[int] = SIZES,
        stop: bool = True,
        seed: int = 0,
        known: str | os.PathLike[str] | None = None,
    ) -> Any:
        """TVM wants a class that its own decorator has wrapped."""
        try:
            from tvm.ir.instrument import pass_instrument
        except ModuleNotFoundError as error:
            raise ImportError("rlx.tvm.Instrument needs TVM: install the extra `tvm`") from error

        flag("run", run)
        flag("refine", refine)
        flag("stop", stop)
        whole_number("seed", seed, 0)
        if isinstance(sizes, str | bytes) or not isinstance(sizes, Sequence):
            raise TypeError(f"sizes: expected a list of integers, found {shown(sizes)}")
        for size in sizes:
            whole_number("sizes", size, 0)

        if known is not None and not isinstance(known, str | os.PathLike):
            raise TypeError(f"known: expected a folder, found {shown(known)}")
        table = [] if known is None else by_choice(Path(known))
        watch = Watch(tuple(sizes) if run else (), seed, table, refine)
        named = type(cls.__name__, (_Watching,), {})  # what TVM prints
        return pass_instrument(named)(watch, stop)


class _Watching:
    """The instrument that TVM calls."""

    def __init__(self, watch: Watch, stop: bool) -> None:
        self.watch, self.stop = watch, stop
        self.texts = Texts()

    @property
    def problems(self) -> list[Problem]:
        """The problems of the passes."""
        return self.watch.problems

    @property
    def seen(self) -> list[str]:
        """The passes after which the module was checked."""
        return self.watch.seen

    @property
    def not_compared(self) -> list[str]:
        """Why runs were not compared."""
        return self.watch.not_compared

    @property
    def refined(self) -> list[Refined]:
        """Whether passes kept the meaning."""
        return self.watch.refined

    def run_before_pass(self, module: Any, info: Any) -> None:
        """TVM is about to run a pass."""
        text = self.texts.of(module)
        if text is not None:
            self._tell(self.watch.before(text))

    def run_after_pass(self, module: Any, info: Any) -> None:
        """TVM has run a pass."""
        text = self.texts.of(module)
        if text is not None:
            self._tell(self.watch.after(str(info.name), text))

    def _tell(self, problem: Problem | None) -> None:
        if problem is not None and self.stop:
            raise RuntimeError(str(problem))


class Texts:
    """The texts of a module before and after each pass, printed only where a pass changed it.
    `weights`: what puts large constants into files; None for texts that hold them.
    """

    def __init__(self, weights: Weights | None = None) -> None:
        self.weights = weights
        self._parts: list[Any] = []
        self._text: str | None = None

    def of(self, module: Any) -> str | None:
        """The module's text; None where it holds no function of Relax."""
        functions = getattr(module, "functions", None)
        if functions is None or not any(
            type(f).__module__.startswith("tvm.relax") for f in functions.values()
        ):
            return None
        # A pass may change a module in place, but no function that is held here.
        parts = [module.attrs, module.global_infos]
        parts += [part for item in functions.items() for part in item]
        if self._text is None or not _same(parts, self._parts):
            before = self._text or ""
            self._parts, self._text = parts, self._printed(module)
            if self.weights is not None:
                self.weights.keep([before, self._text])
        return self._text

    def _printed(self, module: Any) -> str:
        if self.weights is not None:
            return self.weights.text(module)
        return str(module.script(show_meta=True))


def _same(ones: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether these are the same objects of TVM."""
    return len(ones) == len(others) and all(
        one is other or (one is not None and other is not None and one.same_as(other))
        for one, other in zip(ones, others, strict=True)
    )
