"""Shared end of the commands that compile a program, when it cannot be compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from rlx.checker.check import IllFormedError
from rlx.commands.os_errors import words_of
from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.processes import UNABLE
from rlx.grammar.streams import complain_line
from rlx.semantics.run.options import ENDED, UNDECIDED, UsageError, checked, show_errors

T = TypeVar("T")


def made_or_status(prog: str, make: Callable[[], T]) -> T | int:
    """The result of a function, or the exit status with which the command ends.

    Parameters
    ----------
    prog
        The command's name, for messages.
    make
        Makes something other than a number.

    Returns
    -------
    T or int
        The status is 1 if the checker found errors; 2 if the command was used wrongly or a file
        cannot be read or written; 3 if a pass rejects the program.
    """
    from rlx.transform.lowering.passes import PassError
    from rlx.vm.saving import LoadError

    try:
        return make()
    except IllFormedError as error:
        show_errors(error.report)
        return ENDED
    except OSError as error:
        complain_line(f"{prog}: {words_of(error)}")
        return UNABLE
    except (UsageError, LoadError) as error:
        complain_line(f"{prog}: {error}")
        return UNABLE
    except PassError as error:
        complain_line(f"{prog}: {error}")
        return UNDECIDED


def program(path: str, name: str | None) -> IRModule:
    """The module in a file that is still to be compiled, without errors. Raises UsageError if the
    file is an executable, cannot be read, or does not hold one module of that name; IllFormedError
    if the checker finds errors.
    """
    from rlx.vm.file_kind import is_executable

    if is_executable(path):
        hint = f"`rlx run {path}` runs it, `rlx disasm {path}` prints its instructions"
        raise UsageError(f"{path} is an executable, compiled already: {hint}")
    return checked(path, name)
