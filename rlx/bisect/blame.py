"""The result of a bisection."""

from __future__ import annotations

from rlx.grammar.nodes.node import Record

INPUT = "(the input)"
"""Stands for a pass where the program was wrong before the first one."""

KINDS = {
    "illegal": "makes an illegal module",
    "meaning": "changes what the program returns",
    "raises": "raises an error",
    "crash": "ends the process",
    "hang": "exceeds the time limit",
}
"""The mistakes that a pass can make, in the words of a title."""


class Blame(Record):
    """The first pass that did something wrong.

    Attributes
    ----------
    pass_name
        The innermost pass; :data:`INPUT` where the program was wrong before.
    kind
        One of :data:`KINDS`.
    cause
        What stays the same while the program is reduced: the diagnostic's code; the error's type,
        the shape of its message and the function that raised it; the signal.
    message
        What is wrong, in one or more lines.
    done
        The passes that went well before it, in order.
    before, after
        The module's text before and after the pass; empty where there is none.
    """

    pass_name: str
    kind: str
    cause: str
    message: str
    done: tuple[str, ...] = ()
    before: str = ""
    after: str = ""

    def like(self, other: Blame) -> bool:
        """Whether it is the same mistake of the same pass."""
        return (self.pass_name, self.kind, self.cause) == (other.pass_name, other.kind, other.cause)

    @property
    def title(self) -> str:
        """``FuseOps makes an illegal module``"""
        if self.pass_name == INPUT:
            return "the program is wrong before the first pass"
        return f"{self.pass_name} {KINDS[self.kind]}"


class Fine(Record):
    """The answer if no pass was seen to do anything wrong.

    Attributes
    ----------
    compared
        How many runs before a pass were compared with runs after it.
    not_compared
        Why others were not.
    known
        The differences by choice that were met, as the paths of their findings.
    refined
        What was proved of each pass that changed the program: the pass, the status and the reason.
    """

    compared: int = 0
    not_compared: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    refined: tuple[tuple[str, str, str], ...] = ()


class Pipeline(Record):
    """The passes that are asked for.

    Attributes
    ----------
    expression
        The name of a pipeline of ``relax.get_pipeline``, or a Python expression that gives a pass.
    target
        The target in whose scope they run.
    sizes
        The numbers that shape variables get in runs before and after each pass; none for no runs.
    seed
        Of the inputs.
    memory
        The bytes that the tensors of runs may take; None for what the machine has.
    known
        The folder of findings whose differences by choice are no pass's fault; None for none.
    build
        Whether the result of the pipeline is built.
    refine
        Whether it is proved after each pass that the program means the same for all sizes.
    inputs
        The path of an `.npz` file with the inputs of a run that is done before and after each pass;
        None for none.
    entry
        The function that this run calls; None for ``main``, or the only one.
    weights
        A :func:`rlx.writing.scratch` folder for the large constants of programs, which texts name;
        None for texts that hold them.
    """

    expression: str = "default"
    target: str = "llvm"
    sizes: tuple[int, ...] = (3, 1)
    seed: int = 0
    memory: int | None = None
    known: str | None = None
    build: bool = False
    refine: bool = False
    inputs: str | None = None
    entry: str | None = None
    weights: str | None = None
