"""The entry points: `relax-check`, and `rlx` with a command for each tool."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from io import UnsupportedOperation

from rlx.grammar.processes import BUG, INTERRUPTED, UNABLE, collect_seldom
from rlx.grammar.streams import HarmlessStream, complain, complain_line, say

STACK = 64 << 20
"""The size of the stack in bytes; 20,000 tuples, each in the next, need 6 MB of the usual 8."""

COMMANDS: dict[str, tuple[str, str]] = {
    "check": ("rlx.commands.check", "check programs, as relax-check does"),
    "fmt": ("rlx.commands.fmt", "format programs, in any dialect"),
    "prove": ("rlx.commands.prove", "prove or refute a condition over integers"),
    "verify-proof": ("rlx.commands.verify_proof", "check proofs that rlx prove wrote"),
    "refines": (
        "rlx.commands.refines",
        "prove or refute that a program means the same as another one",
    ),
    "diff": ("rlx.commands.diff", "show what differs between two programs, also in meaning"),
    "compare": (
        "rlx.commands.compare",
        "find the first binding at which TVM, or another program, gives other values",
    ),
    "run": ("rlx.commands.run", "run a program, and print what it returns"),
    "step": ("rlx.commands.step", "show a run step by step, as text or as an HTML page"),
    "generate": ("rlx.commands.generate", "print random legal programs"),
    "graph": ("rlx.commands.graph", "draw the dataflow graph of a program, or of two"),
    "memory": ("rlx.commands.memory", "print how much memory a program needs, as a formula"),
    "lower": ("rlx.commands.lower", "print a program after a pass of the lowering"),
    "build": ("rlx.commands.build", "compile a program for the virtual machine"),
    "relay": ("rlx.commands.relay", "check, convert or run a program of Relay"),
    "disasm": ("rlx.commands.disasm", "print an executable of the virtual machine"),
    "fuzz": ("rlx.commands.fuzz", "test rlx or TVM with random programs"),
    "reduce": ("rlx.commands.reduce", "make a program smaller while a command succeeds on it"),
    "why": ("rlx.commands.why", "show how the rules derive the type at a place"),
    "bisect": (
        "rlx.commands.bisect",
        "find the first pass of a TVM pipeline that breaks a program",
    ),
    "lsp": ("rlx.commands.lsp", "run a server of the Language Server Protocol"),
    "explain": ("rlx.commands.explain", "explain a rule, a diagnostic code or an operator"),
    "skill": ("rlx.commands.skill", "print which command answers which question, for agents"),
    "completion": ("rlx.completion", "print a completion script for a shell"),
}
"""Each command: the module whose ``main(argv, prog)`` runs it, and what it does."""


UNLIMITED = frozenset(["check", "completion", "explain", "fmt", "fuzz", "generate", "lsp", "skill"])
"""The commands that read no program, or give up single files themselves. All others read one program
or proof, or two programs: the time limit of a file ends them as a whole, or until they have read it.
"""


def relax_check() -> int:
    """`relax-check`"""
    return _interruptible(lambda: guarded(_command("check"), sys.argv[1:], "relax-check"))


def main() -> int:
    """`rlx COMMAND …`"""
    return _interruptible(_named_command)


def _interruptible(run: Callable[[], int]) -> int:
    """Run an entry point. Ctrl-C ends it without a traceback while it still imports, too."""
    try:
        return run()
    except KeyboardInterrupt:
        return INTERRUPTED


def _named_command() -> int:
    arguments = sys.argv[1:]
    if arguments[:1] == ["help"] and len(arguments) > 1:
        arguments = [arguments[1], "--help"]
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        return guarded(_help, arguments, "rlx")
    if arguments[0] in ("--version", "version"):
        arguments = ["check", "--version"]
    name, *rest = arguments
    if name not in COMMANDS:
        complain(f"rlx: no command {name!r}{_near(name)}\n\n{_usage()}")
        return 2

    def command() -> int:
        return guarded(_command(name), rest, f"rlx {name}")

    if name in UNLIMITED or sys.stdout is not sys.__stdout__:  # a caller in this process reads it
        return command()
    from rlx.checker.driver.time_limit import supervised

    return supervised(command, f"rlx {name}")


def _command(name: str) -> Callable[[Sequence[str], str], int]:
    """A command that is imported when it runs: that, too, may be interrupted, or go wrong."""

    def run(argv: Sequence[str], prog: str) -> int:
        from importlib import import_module

        status: int = import_module(COMMANDS[name][0]).main(argv, prog)
        return status

    return run


def _help(arguments: Sequence[str], prog: str) -> int:
    """The commands: on stderr, if the caller has named none."""
    (say if arguments else complain)(_usage())
    return 0 if arguments else UNABLE


def _near(name: str) -> str:
    """The command that was meant, perhaps."""
    from difflib import get_close_matches

    found = get_close_matches(name, COMMANDS, n=1)
    if not found and ("." in name or os.sep in name):
        return f"; a program is checked by `rlx check {name}`"
    return f"; did you mean {found[0]!r}?" if found else ""


def _usage() -> str:
    width = max(map(len, COMMANDS))
    listed = "".join(f"  {name:<{width}}  {what}\n" for name, (_, what) in COMMANDS.items())
    return f"usage: rlx COMMAND ...\n\n{listed}\n`rlx COMMAND --help` describes a command.\n"


def _prepare_streams() -> None:
    """Open those of the standard streams that the caller has closed, and set what they do with
    texts.
    """
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115 - until the end
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a file name may hold what no encoding can write
            stream.reconfigure(errors="backslashreplace")
    if hasattr(sys.stdin, "reconfigure"):  # what is not UTF-8 is refused, as in a file
        with suppress(UnsupportedOperation):  # a caller in this process has read from it
            sys.stdin.reconfigure(encoding="utf-8", errors="strict")


def _deepen_stack() -> None:
    """Let the stack grow as far as the deepest nesting needs that Python's limit lets through."""
    with suppress(ImportError, OSError, ValueError):  # not there, or not allowed
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
        if soft != resource.RLIM_INFINITY and soft < STACK:
            most = STACK if hard == resource.RLIM_INFINITY else min(STACK, hard)
            resource.setrlimit(resource.RLIMIT_STACK, (most, hard))


def guarded(run: Callable[[Sequence[str], str], int], argv: Sequence[str], prog: str) -> int:
    """Run a command; report what it did not expect as our mistake."""
    collect_seldom()
    _deepen_stack()
    _prepare_streams()
    plain, sys.stderr = sys.stderr, HarmlessStream(sys.stderr)
    try:
        status = run(argv, prog)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # a reader that has gone away (`| head`) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        return 0
    except OSError as error:
        from rlx.commands.os_errors import words_of

        complain_line(f"{prog}: {words_of(error)}")
        return UNABLE
    except Exception as error:  # noqa: BLE001 - ours to explain, whatever it is
        from rlx.checker.driver.mistakes import keep_traceback
        from rlx.grammar.print.info import TooLongError
        from rlx.grammar.stack import StackError

        if isinstance(error, TooLongError | StackError):
            complain_line(f"{prog}: {error}")
            return UNABLE
        where = keep_traceback()
        complain_line(f"{prog}: this is a bug in rlx: {type(error).__name__}: {error}")
        complain_line(f"  report the command line, its input and the traceback in {where}")
        return BUG
    finally:
        sys.stderr = plain
