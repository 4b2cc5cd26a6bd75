"""Argument parsing of all commands, with suggestions for misspelt options and values."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from rlx.grammar.streams import complain, harmless, say, visible

PATHS = (
    *("DIR", "FILE", "FILE.npz", "FILE:LINE[:COLUMN]", "MODULE", "PATH"),
    *("A", "B", "BEFORE", "AFTER", "OTHER"),
)
"""The metavariables of arguments that are files."""

_CHOICE = re.compile(r"argument (?P<names>\S+): invalid choice: '(?P<given>[^']*)'")


class CommandParser(argparse.ArgumentParser):
    """An ``ArgumentParser`` with suggestions in errors, without abbreviated options, and with an
    epilog that keeps its lines.
    """

    def __init__(self, **settings: Any) -> None:
        settings.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        settings.setdefault("allow_abbrev", False)
        super().__init__(**settings)
        self._given: Sequence[str] = ()

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Like the base class, but remembers the arguments for error messages."""
        self._given = list(args or ())
        self._refuse_names_of_files()
        options, rest = super().parse_known_args(args, namespace)
        self._refuse_paths(options)
        return options, rest

    def _refuse_names_of_files(self) -> None:
        """Refuse an option that is also the name of a file here: a shell that expands `*` writes the
        names of a stranger's files as words.
        """
        for word in self._given:
            if word == "--":
                return
            if word[:1] == "-" and word != "-" and os.path.lexists(word):
                argparse.ArgumentParser.error(
                    self,
                    f"{word!r} is an option, and the name of a file in this folder; write the file"
                    f" as {'./' + word!r}, or use the option in another folder",
                )

    def _refuse_paths(self, options: argparse.Namespace) -> None:
        """Refuse a path that begins as an option does, or that is empty, as a shell makes it of a
        variable without a value.
        """
        for action in self._actions:
            if action.metavar not in PATHS:
                continue
            value = getattr(options, action.dest, None)
            for path in value if isinstance(value, list) else [value]:
                if path == "":
                    name = "/".join(action.option_strings) or action.metavar
                    argparse.ArgumentParser.error(self, f"the name of a file is empty: {name}")
                if isinstance(path, str) and path[:1] == "-" and path != "-":
                    argparse.ArgumentParser.error(
                        self, f"the path {path!r} begins with '-'; write it as {'./' + path!r}"
                    )

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """Like the base class, which takes the value in `--name=--` for no value."""
        if action.option_strings and arg_strings == ["--"]:
            value = self._get_value(action, "--")
            self._check_value(action, value)
            return value
        return super()._get_values(action, arg_strings)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Like the base class, but what the arguments contain cannot command a terminal."""
        if message and file in (None, sys.stderr, sys.stdout):
            (say if file is sys.stdout else complain)(message)
        elif message:
            file.write(harmless(message))

    def error(self, message: str) -> Any:
        """Exit with status 2 and a message that suggests the right spelling."""
        from rlx.grammar.suggest import closest, did_you_mean

        choice, option = _CHOICE.match(message), self._unknown_option()
        value = self._value_like_an_option(message)
        hint: str | None = None
        if value is not None:
            message, hint = f"{message}; a value that begins with - is written {value}", None
        elif choice is not None:
            hint = did_you_mean(closest(choice["given"], self._choices(choice["names"])))
        elif option is not None:
            message = f"unknown option {option}"
            hint = self._with_value(option[2:]) or did_you_mean(
                _options_like(option, self._option_string_actions), quote=""
            )
        else:
            hint = self._for_words_left(message)
        super().error(visible(f"{message}; {hint}" if hint else message))

    def _for_words_left(self, message: str) -> str | None:
        """The hint for words that no argument takes: a value needs its option, a condition quotes."""
        left = message.removeprefix("unrecognized arguments: ")
        if left == message:
            return None
        if re.match(r"[A-Za-z]\w*=", left) and "--input" in self._option_string_actions:
            return f"write --input {left}"
        if re.match(r"[<>=!+*/%-]", left):
            return "write the condition in quotes"
        return None

    def _unknown_option(self) -> str | None:
        for word in self._given:
            if word == "--":
                break
            name = word.partition("=")[0]
            if name.startswith("--") and name not in self._option_string_actions:
                return name
        return None

    def _with_value(self, word: str) -> str | None:
        """The hint for an option that is the value of another one, such as ``--json``."""
        for action in self._actions:
            if action.option_strings and word in (action.choices or ()):
                return f"write {action.option_strings[-1]} {word}"
        return None

    def _value_like_an_option(self, message: str) -> str | None:
        """The spelling of a value that was taken for an option, after the option that misses it."""
        if not message.endswith("expected one argument"):
            return None
        for name, word in pairwise(self._given):
            if name in self._option_string_actions and name in message.split()[1].rstrip(":").split(
                "/"
            ):
                dash, first = word[:1] == "-", word.lstrip("-")[:1]
                return f"{name}={word}" if dash and not first.isalpha() else None
        return None

    def _choices(self, names: str) -> list[str]:
        for action in self._actions:
            if names in ("/".join(action.option_strings), action.metavar, action.dest):
                return list(map(str, action.choices or ()))
        return []


def _options_like(name: str, known: Iterable[str]) -> list[str]:
    """The options that are nearest: by a slip, or because one is a part of the other."""
    from rlx.grammar.suggest import closest

    plain = name.lstrip("-")
    begun = [one for one in known if len(plain) > 2 and one.startswith(name)]
    return (begun or closest(name, known) or [one for one in known if plain in one])[:3]


def positive(text: str) -> int:
    """An option value that is an integer of at least 1."""
    if not (_digits(text) and int(text) > 0):
        raise argparse.ArgumentTypeError(f"expected a positive integer, found {_short(text)}")
    return int(text)


def natural(text: str) -> int:
    """An option value that is an integer of at least 0."""
    if not _digits(text):
        raise argparse.ArgumentTypeError(f"expected an integer from 0, found {_short(text)}")
    return int(text)


def integer(text: str) -> int:
    """An option value that is an integer."""
    if not _digits(text.removeprefix("-")):
        raise argparse.ArgumentTypeError(f"expected an integer, found {_short(text)}")
    return int(text)


def seconds(text: str) -> float:
    """An option value that is a time in seconds, more than none."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, found {text!r}")
    return found


_DIGITS = 4000
"""Python reads no longer integers."""


def _digits(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _DIGITS


def _short(text: str) -> str:
    return repr(text) if len(text) <= 60 else f"{len(text)} characters"
