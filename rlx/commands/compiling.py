"""What the commands that compile a program share: how they end when it cannot be compiled."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

from rlx.checker.check import IllFormedError
from rlx.semantics.run.options import ENDED, UNABLE, UNDECIDED, UsageError, show_errors

T = TypeVar("T")


def made_or_status(prog: str, make: Callable[[], T]) -> T | int:
    """What a function makes, or the exit status with which the command ends.

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
    except (UsageError, LoadError, OSError) as error:
        sys.stderr.write(f"{prog}: {error}\n")
        return UNABLE
    except PassError as error:
        sys.stderr.write(f"{prog}: {error}\n")
        return UNDECIDED
