"""`rlx explain CODE`: the demand of a rule, its reason, and its source."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.checker.explain import explain, explained, titles
from rlx.commands.outputs import add_format, print_record
from rlx.grammar.stack import roomy
from rlx.grammar.streams import say_line


@roomy
def main(argv: Sequence[str], prog: str = "rlx explain") -> int:
    """Explain codes; without any, list the rules."""
    from rlx.grammar.command_line import CommandParser

    parser = CommandParser(
        prog=prog,
        description="Explain a rule, a diagnostic code or an operator.",
        epilog="exit status: 0 explained; 2 wrong usage, or a CODE that does not exist.",
    )
    parser.add_argument(
        "code",
        nargs="*",
        metavar="CODE",
        help="a rule (D14), a code (D14-arity) or an operator (R.concat); default: list the rules",
    )
    add_format(parser)
    options = parser.parse_args(argv)
    wanted: list[str] = options.code
    if options.format == "json":
        texts = {code: explained(code) for code in wanted}
        for code in (code for code, text in texts.items() if text is None):
            return explain(code, prog)
        entries = [{"code": code, "text": text} for code, text in texts.items()]
        listed = [{"code": name, "title": title} for name, title in titles().items()]
        print_record(codes=entries if wanted else listed)
        return 0
    if wanted:
        return max(explain(code, prog) for code in wanted)
    for name, title in titles().items():
        say_line(f"{name:<24}{title}")
    return 0
