"""The settings of a project: ``[tool.rlx]`` in pyproject.toml, and selected codes.

A project may be a stranger's. Modules that it names are imported only if the user trusts it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path

from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes.node import Record, replace

NAME = "pyproject.toml"
LISTS = (
    *("operators", "allow-operators", "select", "ignore", "exclude"),
    *("extend-select", "extend-ignore", "extend-exclude"),
)
FLAGS = ("strict",)
WORDS = ("documentation", "target")
TABLES = ("per-file-ignores",)


class ConfigurationError(Exception):
    """The table says something that rlx does not understand."""


class ProjectSettings(Record):
    """The settings of a project.

    Attributes
    ----------
    operators, allowed
        Modules that declare operators, and patterns of names that are allowed.
    select, ignore
        Codes to report, and codes not to report; the option `--select` replaces both.
    extend_select, extend_ignore
        Codes to report, and not to report, whatever the others say.
    per_file
        Codes not to report in the files whose paths match a pattern.
    strict
        Whether warnings fail a run.
    exclude
        Patterns of paths, from where the file stands, that are not checked, even if they are named.
    documentation
        The address at which the pages of the specification are published; None if they are not.
    target
        The version of TVM that is to read the programs; None infers it from each text.
    root
        The directory of the file.
    """

    operators: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    extend_ignore: tuple[str, ...] = ()
    per_file: tuple[tuple[str, tuple[str, ...]], ...] = ()
    strict: bool = False
    exclude: tuple[str, ...] = ()
    documentation: str | None = None
    target: str | None = None
    root: str = "."

    @property
    def path(self) -> str:
        """The file that says it."""
        return os.path.join(self.root, NAME)

    def excludes(self, path: str) -> bool:
        """Whether a path is not to be checked."""
        return bool(self.exclude) and self.matches(path, self.exclude)

    def matches(self, path: str, patterns: Iterable[str]) -> bool:
        """Whether a path, or a folder that it is in, matches a pattern, seen from the root."""
        from fnmatch import fnmatch

        inside = os.path.relpath(os.path.abspath(path), self.root).replace(os.sep, "/")
        folders = list(accumulate(inside.split("/"), "{}/{}".format))
        return any(fnmatch(part, each.rstrip("/")) for each in patterns for part in folders)

    def ignored_in(self, path: str) -> tuple[str, ...]:
        """The codes that are not reported in a file."""
        return tuple(
            code
            for pattern, codes in self.per_file
            if self.matches(path, [pattern])
            for code in codes
        )


_LONGEST = 1 << 20
"""The bytes of the longest configuration that is read."""


def configuration(start: str = ".") -> ProjectSettings:
    """The configuration of the nearest project around a directory.

    Raises
    ------
    ConfigurationError
        If the file cannot be read as TOML, or the table has other keys or values.
    """
    folder = Path(os.path.abspath(start))
    for each in (folder, *folder.parents):
        path = each / NAME
        if os.path.isfile(path):  # false for names that no system has, too
            return _read(path)
    return ProjectSettings()


def _read(path: Path) -> ProjectSettings:
    try:
        with path.open("rb") as file:
            content = file.read(_LONGEST + 1)
    except OSError:
        return ProjectSettings()
    if len(content) > _LONGEST:
        raise ConfigurationError(f"{path} is longer than {_LONGEST >> 10:,} KiB")
    if b"rlx" not in content:
        return ProjectSettings()
    import tomllib

    try:
        tools = tomllib.loads(content.decode("utf-8")).get("tool", {})
    except ValueError as error:  # wrong syntax, no UTF-8, or a number with too many digits
        raise ConfigurationError(f"{path}: {error}") from error
    except RecursionError as error:
        raise ConfigurationError(f"{path}: the values are nested too deeply") from error
    if not isinstance(tools, dict):
        raise ConfigurationError(f"{path}: tool must be a table")
    table = tools.get("rlx", {})
    if not isinstance(table, dict):
        raise ConfigurationError(f"{path}: tool.rlx must be a table")
    for key, value in table.items():
        _check(path, key, value)
    return ProjectSettings(
        operators=tuple(
            str(path.parent / item) if item.endswith(".py") else item
            for item in table.get("operators", ())
        ),
        allowed=tuple(table.get("allow-operators", ())),
        select=tuple(table.get("select", ())),
        ignore=tuple(table.get("ignore", ())),
        strict=table.get("strict", False),
        extend_select=tuple(table.get("extend-select", ())),
        extend_ignore=tuple(table.get("extend-ignore", ())),
        per_file=tuple((k, tuple(v)) for k, v in table.get("per-file-ignores", {}).items()),
        exclude=(*table.get("exclude", ()), *table.get("extend-exclude", ())),
        documentation=table.get("documentation"),
        target=table.get("target"),
        root=str(path.parent),
    )


def without_untrusted(
    project: ProjectSettings, trusted: bool
) -> tuple[ProjectSettings, str | None]:
    """A configuration without the modules that may not be imported, and a note that says so.

    Raises
    ------
    ConfigurationError
        If the user's own configuration is wrong.
    """
    if not project.operators or trusted or trusts(project.root):
        return project, None
    path = project.path if project.path.isprintable() else repr(project.path)
    written = (
        os.path.relpath(o, project.root) if os.path.isabs(o) else o for o in project.operators
    )
    names = ", ".join(map(repr, written))
    note = f"the operators that {path} names were not imported ({names})"
    return replace(project, operators=()), note


def trusts(folder: str) -> bool:
    """Whether the user's own configuration trusts a project, by the folder that it is in.

    Raises
    ------
    ConfigurationError
        If that configuration is wrong.
    """
    import tomllib

    path = own_file()
    if not path.is_absolute():  # without a home, it would be a file of the folder that is checked
        return False
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError:
        return False
    except ValueError as error:
        raise ConfigurationError(f"{path}: {error}") from error
    for key in table.keys() - {TRUST}:
        raise ConfigurationError(f"{path} has the key {key!r}; the only key is {TRUST}")
    listed = table.get(TRUST, [])
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise ConfigurationError(f"{path}: {TRUST} must be a list of folders")
    trusted = [os.path.expanduser(item) for item in listed]
    for item in trusted:
        if not os.path.isabs(item):
            raise ConfigurationError(f"{path}: {item!r} in {TRUST} must be an absolute path")
    real = os.path.realpath(folder)
    return any(os.path.commonpath([real, each]) == each for each in map(os.path.realpath, trusted))


TRUST = "trust"
"""The key of the user's own configuration: folders whose modules may be imported, with all that is
below them.
"""


def own_file() -> Path:
    """The user's own configuration: ``rlx/config.toml`` under ``$XDG_CONFIG_HOME``, or
    ``~/.config``.
    """
    home = os.environ.get("XDG_CONFIG_HOME", "")
    base = Path(home) if os.path.isabs(home) else Path(os.path.expanduser("~"), ".config")
    return base / "rlx" / "config.toml"


def _check(path: Path, key: str, value: object) -> None:
    """Refuse a key that there is not, with the one that may be meant, and a value of another
    type.
    """
    if key in LISTS:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise ConfigurationError(f"{path}: {key} of [tool.rlx] must be a list of strings")
    elif key in TABLES:
        lists = value.values() if isinstance(value, dict) else [None]
        if not all(isinstance(v, list) and all(isinstance(i, str) for i in v) for v in lists):
            raise ConfigurationError(
                f"{path}: {key} of [tool.rlx] must be a table of lists of codes, by patterns of paths"
            )
    elif key in FLAGS:
        if not isinstance(value, bool):
            raise ConfigurationError(f"{path}: {key} of [tool.rlx] must be true or false")
    elif key == "target":
        from rlx.grammar.dialects import VERSIONS

        if value not in VERSIONS:
            known = ", ".join(VERSIONS)
            raise ConfigurationError(
                f'{path}: target of [tool.rlx] must be one of {known}, as a string: "{VERSIONS[-1]}"'
            )
    elif key in WORDS:
        if not isinstance(value, str) or "://" not in value:
            raise ConfigurationError(f"{path}: {key} of [tool.rlx] must be a URL")
    else:
        from rlx.grammar.suggest import closest, did_you_mean

        keys = (*LISTS, *FLAGS, *WORDS, *TABLES)
        hint = did_you_mean(closest(key.replace("_", "-"), keys))
        known = ", ".join(keys)
        raise ConfigurationError(
            f"{path}: [tool.rlx] has no key {key!r}; {hint or f'the keys are {known}'}"
        )


ALWAYS = ("PARSE", "READ", "TIME", "KILLED", "INTERNAL")
"""Reported whatever is selected: a file in which one of these stands was not checked."""


class Selection(Record):
    """Codes to report: those that a selector in ``select`` names, all if it is empty, but none in
    ``ignore``.

    A selector is a code (``D14-arity``), a rule (``D14``), or the letters of a family (``WF``).
    What ``more`` names is reported although another list ignores it, and what ``fewer`` names is
    not.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    fewer: tuple[str, ...] = ()

    def reports(self, diagnostic: Diagnostic) -> bool:
        """Whether a diagnostic is reported."""
        if diagnostic.code in ALWAYS:
            return True
        code = diagnostic.code
        if _named(code, self.fewer):
            return False
        chosen = not self.select or _named(code, self.select)
        return (chosen and not _named(code, self.ignore)) or _named(code, self.more)


def matches(selector: str, code: str) -> bool:
    """Whether a selector names a code."""
    if code == selector:
        return True
    if code.startswith(f"{selector}-"):
        return "-" not in selector or _belongs(code, selector)
    family = code[: len(selector)]
    return family == selector and selector.isalpha() and not code[len(selector)].isalpha()


def _belongs(code: str, identifier: str) -> bool:
    """Whether a code is a premise of that rule: the codes of `E-call-tir` begin like those of
    `E-call`.
    """
    from rlx.spec import premise_rule

    found = premise_rule(code)
    return found is not None and found.identifier == identifier


def _named(code: str, selectors: Iterable[str]) -> bool:
    return any(matches(selector, code) for selector in selectors)


def parse(written: Iterable[str]) -> tuple[str, ...]:
    """The selectors in the values of an option: separated by commas, spaces around them ignored."""
    return tuple(s.strip() for value in written for s in value.split(",") if s.strip())
