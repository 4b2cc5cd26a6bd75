"""``rlx verify-proof``: checks a proof in a file, independently of the prover."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rlx.grammar.processes import UNABLE
from rlx.grammar.stack import roomy
from rlx.grammar.streams import complain_line, say, visible

_LENGTH = 16_000_000
_REFUSED = 1


@roomy
def main(argv: Sequence[str] | None = None, prog: str = "rlx verify-proof") -> int:
    """Check certificates.

    Returns
    -------
    int
        0 if each file is a proof, 1 if one is not, 2 for one that cannot be read or wrong usage.
    """
    from rlx.commands.outputs import add_format, print_record
    from rlx.grammar.command_line import CommandParser
    from rlx.solver.proofs import checker

    parser = CommandParser(
        prog=prog,
        description="Check certificates, which rlx prove --certificate writes.",
        epilog=(
            "exit status: 0 every file is a proof; 1 one is not; 2 wrong usage, or a file cannot be"
            " read."
        ),
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a certificate; - for stdin")
    add_format(parser)
    options = parser.parse_args(argv)
    status = 0
    answers = []
    for path in options.files:
        said = ""
        found = {}
        try:
            found = checker.read(_text(path))
            checker.check(found)
        except checker.RefusedError as error:
            code, message = error.args
            said = f"refused: {message} ({code})"
            status = max(status, _REFUSED)
        except OSError as error:
            said = f"{error.strerror or error}"
            status = UNABLE
            if options.format == "json":
                complain_line(f"{path}: {said}")
        except UnicodeDecodeError:
            said = "refused: no certificate: the file is not UTF-8"
            status = max(status, _REFUSED)
        if options.format == "json":
            claims = {key: found[key] for key in ("goal", "assume", "variables") if not said}
            answers.append({"path": path, "proved": not said, "why": said, **claims})
        elif said:
            complain_line(f"{path}: {said}")
        else:
            say("\n  ".join(map(visible, [f"{path}: proved", *_claimed(found)])) + "\n")
    if options.format == "json":
        print_record(files=answers)
    return status


def _text(path: str) -> str:
    if path == "-":
        return sys.stdin.read(_LENGTH + 1)
    with open(path, encoding="utf-8") as file:
        return file.read(_LENGTH + 1)


def _claimed(found: dict[str, object]) -> list[str]:
    """The theorem of a certificate, in lines; its texts are those of the certificate's author."""
    goal, assume, variables = found["goal"], found["assume"], found["variables"]
    assert isinstance(assume, list)
    assert isinstance(variables, dict)
    limits = [_limits(name, *limits) for name, limits in variables.items()]
    lines = [f"{goal}", *(f"if {text}" for text in assume)]
    return lines + ([f"for {', '.join(limits)}"] if limits else [])


def _limits(name: str, low: int | None, high: int | None) -> str:
    if low is None:
        return f"every integer {name}" if high is None else f"{name} <= {high}"
    return f"{name} >= {low}" if high is None else f"{low} <= {name} <= {high}"


if __name__ == "__main__":
    sys.exit(main())
