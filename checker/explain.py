"""The explanation of a code: the rule's demand, its reason, and its source."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from rlx.grammar.streams import complain_line, say

if TYPE_CHECKING:
    from rlx.spec import Rule
    from rlx.spec.reader import Inference

WIDTH = 96

OUTSIDE: Mapping[str, tuple[str, str]] = {
    "PARSE": (
        "Syntax",
        (
            "The text is not a Relax program in any dialect. The message says what was"
            " expected. The parser continues at the next statement or function, so one run"
            " can report several errors."
        ),
    ),
    "PARSE-opaque": (
        "Text that is kept unchanged",
        (
            "rlx does not understand a part of a PrimFunc. It keeps the part as text and"
            " derives nothing from it."
        ),
    ),
    "PARSE-default": (
        "A default value",
        (
            "A parameter has a default value. TVM ignores default values: every call must give"
            " all arguments."
        ),
    ),
    "PARSE-unused": (
        "A declaration without effect",
        (
            "A function declares a shape variable and uses it nowhere. TVM reads past it, and"
            " `rlx fmt` does not print it."
        ),
    ),
    "PARSE-captured": (
        "Names from the surrounding Python code",
        (
            "A program in a Python file uses names that the surrounding Python code binds."
            " rlx knows literal constants. It treats every other value as unknown, because"
            " it never executes the file, and reports no error that depends on such a"
            " value."
        ),
    ),
    "PARSE-unbound": (
        "A value that is not bound",
        (
            "An expression with a value stands alone as a statement. TVM reads such a statement"
            " only if it has no value, as a call of R.print. Bind the value to a name, or remove it."
        ),
    ),
    "PARSE-cast-annotation": (
        "Two types of one cast",
        (
            "The variable of a cast has an annotation that is wider than the type it is cast to. TVM reads"
            " only an annotation that is the same type. Leave it out, or write the type of the cast."
        ),
    ),
    "PARSE-returns": (
        "A return in each branch",
        (
            "Both branches of an if return a value. TVM reads only one return of a function: bind the value of"
            " each branch to one name, and return it behind the if."
        ),
    ),
    "PARSE-decorator": (
        "A missing decorator",
        (
            "A class or function in a Python file has Relax annotations but no decorator."
            " Neither TVM nor rlx reads it."
        ),
    ),
    "OPERATORS": (
        "The rule of an operator that you declared",
        (
            "A rule that you declared with @rlx.operator raised an exception, so the file"
            " could not be checked. The command ends with status 2."
        ),
    ),
    "PARSE-nothing": (
        "No Relax program",
        "The Python file contains no Relax class or function with a decorator.",
    ),
    "IGNORE": (
        "Comments that silence a code",
        (
            "A comment `# rlx: ignore[CODE]` silences the diagnostics of that code, rule"
            " or family on its line."
        ),
    ),
    "IGNORE-unused": (
        "Comments that ignore nothing",
        (
            "A comment `# rlx: ignore[CODE]` silences the diagnostics of that code, rule"
            " or family on its line. There is none, so the comment is no longer needed or"
            " is on the wrong line."
        ),
    ),
    "IGNORE-codes": (
        "Comments that do not say what to ignore",
        (
            "A comment `# rlx: ignore` must name the codes that it silences: `# rlx:"
            " ignore[D14-arity, WF02]`."
        ),
    ),
    "VERSION": (
        "Spellings of one version of TVM",
        (
            "The option --target, or `target` of [tool.rlx], names the version of TVM that"
            " is to read a program. What that version does not read is an error."
        ),
    ),
    "VERSION-spelling": (
        "A spelling that the target does not read",
        (
            "A word, keyword or annotation is from another version of TVM than the target."
            " The message says which versions read it, and the help how the target writes it."
        ),
    ),
    "VERSION-operator": (
        "An operator that the target does not have",
        "The program calls an operator that came with a later version of TVM than the target.",
    ),
    "VERSION-mixed": (
        "Spellings of different versions",
        (
            "No version of TVM reads all spellings of the text, so it cannot be read as a whole."
            " A target (--target) makes the words of other versions errors."
        ),
    ),
    "VERSION-inferred": (
        "A program from before purity",
        (
            "The spellings of the text are of 2022, when functions did not declare their purity."
            " Calls with effects are not reported in such a text unless a target is given."
        ),
    ),
    "TVM": (
        "What TVM builds",
        (
            "With --for tvm, a program is also asked whether tvm.compile of TVM 0.27 builds it for a"
            " processor. The answers are those that TVM gave for calls of each operator and intrinsic."
        ),
    ),
    "TVM-operator": (
        "A call that no pass of TVM lowers",
        (
            "TVM has no legalisation of the operator for these element types, or the one that it has"
            " fails. The message has TVM's own words."
        ),
    ),
    "TVM-shape": (
        "A call whose shapes TVM must know",
        (
            "TVM legalises the operator only where the shapes of its arguments and of its result are"
            " known. R.match_cast gives a value a shape."
        ),
    ),
    "TVM-closure": (
        "A local function",
        "TVM's default build does not lift local functions; LambdaLift does, and must run before it.",
    ),
    "TVM-text": (
        "A call that TVM's parser does not read",
        "TVM has the operator, and its parser no spelling for it, or another one.",
    ),
    "TVM-intrinsic": (
        "An intrinsic that LLVM does not have",
        "TVM has no rule that lowers the intrinsic for this type on a processor.",
    ),
    "TVM-target": (
        "Code for a GPU",
        "Thread bindings, and intrinsics of GPUs, are not built for a processor.",
    ),
    "TVM-packed": (
        "A function that must be registered",
        (
            "The build succeeds. A run ends with an error unless the function is registered, or in a"
            " library that is loaded."
        ),
    ),
    "PYTHON": (
        "What Python refuses",
        "A Python file is run before TVM reads the program, so Python must know its names.",
    ),
    "PYTHON-name": (
        "A name that the Python file does not define",
        (
            "A data type or dimension stands without quotes, a function of a class is called by its"
            " bare name, or `cls` is used unbound: the file binds no such name where it is used,"
            " so running it stops with a NameError."
        ),
    ),
    "PYTHON-attribute": (
        "An attribute that Relax variables do not have",
        (
            "TVM evaluates `x.shape` as Python, and its variables have no such attribute."
            " `R.shape_of(x)` is the shape as a value, `x.ty.shape` that of the annotation (since 0.26)."
        ),
    ),
    "PYTHON-annotation": (
        "A parameter without annotation in a Python file",
        (
            "A parameter of a Relax function has no annotation. rlx takes it for any value, as the"
            " document does; TVM ends with an error when Python runs the file."
        ),
    ),
    "PYTHON-evaluated": (
        "An annotation that fails when Python evaluates it",
        (
            "Up to Python 3.13, a file without `from __future__ import annotations` evaluates"
            " annotations where it defines a function: `n * 2` of a TypeVar is a TypeError, and"
            ' `T.Buffer(("n",), …)` is refused, and `-> R.Tensor((n,))` does not know the "n" of a'
            " parameter. tvm.script.from_source evaluates none of them."
        ),
    ),
    "PYTHON-import": (
        "A module of scripts that is not imported",
        (
            "The program uses R, T or I, and the Python file does not import it, so running it"
            " stops with a NameError. tvm.script.from_source provides these names."
        ),
    ),
    "READ": (
        "Reading a file",
        "The file could not be read. The message comes from the operating system.",
    ),
    "TIME": (
        "The time that a file may take",
        (
            "Reading and checking the file took longer than the limit, so that it was given up."
            " The other files were checked. The limit is 300 seconds; the environment variable"
            " RLX_FILE_TIMEOUT sets another number of seconds."
        ),
    ),
    "KILLED": (
        "Files whose check was killed",
        (
            "The process that checked the file was ended by the user or by the system, which does"
            " so if memory is short. The other files were checked."
        ),
    ),
    "INTERNAL": (
        "A bug in the checker",
        (
            "The checker crashed on this file. No file should cause that. Please report it"
            " with the file and the traceback that the message names."
        ),
    ),
}
"""Codes that belong to no rule: title, and what they mean."""


def explain(code: str, prog: str = "relax-check") -> int:
    """Print the explanation of a code or an operator, and return the exit status."""
    text = explained(code)
    if text is not None:
        say(text)
        return 0
    from difflib import get_close_matches

    near = get_close_matches(code, _operators() if code.startswith("R.") else codes(), n=3)
    hint = f"; did you mean {', '.join(near)}?" if near else "; `rlx explain` lists the rules"
    complain_line(f"{prog}: no rule has the name {code or repr(code)}{hint}")
    return 2


def explained(code: str) -> str | None:
    """The explanation of a code, the parameters of an operator, or the rules whose ids begin with a
    word (``WF``, ``OBL``, ``OBL-reshape``); None if there is none of that name.
    """
    from rlx.operators.reference import described as operator
    from rlx.spec import premise_rule

    code = next((each for each in codes() if each.lower() == code.lower()), code)
    rule = premise_rule(code)
    if rule is not None:
        lines: list[str] | None = _lines(rule, code)
    elif code in OUTSIDE:
        title, text = OUTSIDE[code]
        lines = [f"{code}: {title}", "", *_filled(text)]
    else:
        lines = operator(code) or _family(code)
    return None if lines is None else "\n".join([*lines, ""])


def _family(word: str) -> list[str] | None:
    """The rules whose ids begin with a word, and their codes, or the codes that do."""
    from rlx.grammar.wording import counted
    from rlx.spec import rules

    head = word.rstrip("-*").upper()
    begins = re.compile(rf"{re.escape(head)}(?![A-Z])", re.IGNORECASE)
    found = [rule for name, rule in rules().items() if begins.match(name)]
    outside = {code: title for code, (title, _) in OUTSIDE.items() if begins.match(code)}
    if not word or not (found or outside):
        return None
    lines = [f"{head}: {counted(len(found) or len(outside), 'rule' if found else 'code')}", ""]
    for rule in found:
        lines.append(f"{rule.identifier}: {rule.title}")
        lines += [f"    {code}" for code in rule.premises if code != rule.identifier]
    lines += [f"{code}: {title}" for code, title in outside.items()]
    return [*lines, "", "`rlx explain` with one of these ids or codes explains it."]


def _operators() -> list[str]:
    """The names of all operators, as programs write them."""
    from rlx.operators.registry import every_name

    return [f"R.{name}" for name in every_name()]


def codes() -> list[str]:
    """Every code that a diagnostic may have."""
    from rlx.spec import rules

    found = list(OUTSIDE)
    for name, rule in rules().items():
        found += [name, *rule.premises]
    return found


class Described(NamedTuple):
    """The description of a rule in a report, or of a code outside the rules.

    Attributes
    ----------
    title, statement
        What it is called, and what it demands.
    text, markdown
        All that `--explain` says, plain and as Markdown.
    chapter
        The file of the specification in which the rule stands; None outside the rules.
    """

    title: str
    statement: str
    text: str
    markdown: str
    chapter: str | None


def described(name: str) -> Described | None:
    """A rule by its id, or a code outside the rules; None if there is none of that name."""
    from rlx.spec import rules

    if name in OUTSIDE:
        title, statement = OUTSIDE[name]
        return Described(title, statement, statement, statement, None)
    rule = rules().get(name)
    if rule is None:
        return None
    text = "\n".join(_lines(rule, "")[2:])
    return Described(rule.title, rule.statement, text, _markdown(rule), rule.file)


def _markdown(rule: Rule) -> str:
    parts = [rule.statement]
    if rule.block is not None:
        parts.append("\n".join(["```text", *inference_lines(rule.block), "```"]))
    if rule.why:
        parts.append(f"**Why:** {rule.why}")
    if rule.premises:
        parts.append("\n".join(f"- `{code}`: {words}" for code, words in rule.premises.items()))
    if rule.tvm:
        parts.append(f"**TVM differs:** {rule.tvm}")
    return "\n\n".join(parts)


def titles() -> dict[str, str]:
    """The title of each rule, and of each code outside the rules."""
    from rlx.spec import rules

    outside = {code: title for code, (title, _) in OUTSIDE.items()}
    return {name: rule.title for name, rule in rules().items()} | outside


def _lines(rule: Rule, code: str) -> list[str]:
    from rlx.spec import ledger

    lines = [f"{rule.identifier}: {rule.title}", "", *_filled(rule.statement), ""]
    if rule.block is not None:
        lines += [*inference_lines(rule.block, code), ""]
    if rule.why:
        lines += [*_filled(f"Why: {rule.why}"), ""]
    if rule.premises:
        lines.append("Premises, each with the code that is reported if it fails:")
        for name, text in rule.premises.items():
            lines += _filled(text, f"{'>' if name == code else ' '} {name}: ", "    ")
        lines.append("")
    if rule.tvm:
        lines += [*_filled(f"TVM differs: {rule.tvm}"), ""]
    for number in rule.ledger:
        entry = ledger()[number]
        lines += [*_filled(f"Ledger {number}, {entry.title}: {entry.text}"), ""]
    return lines + _filled(f"Source: {rule.source}")


def inference_lines(block: Inference, code: str = "") -> list[str]:
    """The rule as an inference: premises over a bar, the one in question marked."""
    width = max((len(label) for label in block.labels), default=0)
    lines: list[str] = []
    for label, text in block.premises:
        head = f"{'>' if label and label == code else ' '} {label:<{width}}  " if width else "  "
        lines += _filled(text, head, " " * len(head))
    below = _filled(block.conclusion, "  ", "    ")
    bar = max(map(len, (*lines, *below))) - 2
    return [*lines, f"  {'-' * bar}", *below]


def _filled(text: str, first: str = "", then: str = "") -> list[str]:
    from textwrap import wrap

    return wrap(text, WIDTH, initial_indent=first, subsequent_indent=then, break_on_hyphens=False)
