"""The settings of the project around a command, and those that need the user's trust."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from rlx.grammar.streams import complain_line

if TYPE_CHECKING:
    from rlx.checker.driver.configuration import ProjectSettings


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how far a project is trusted."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--trust-config",
        action="store_true",
        help="import the modules that `operators` of [tool.rlx] in pyproject.toml names",
    )
    group.add_argument(
        "--isolated", action="store_true", help="do not read pyproject.toml of the project"
    )


def settings(options: argparse.Namespace, prog: str) -> ProjectSettings:
    """The configuration of the project around the current folder; its operators only if they may be
    imported, else a note on stderr says that they were not. Raises
    rlx.checker.driver.configuration.ConfigurationError if it is wrong, or the user's own is.
    """
    from rlx.checker.driver.configuration import (
        ProjectSettings,
        configuration,
        without_untrusted,
    )

    if options.isolated:
        return ProjectSettings()
    project = configuration()
    if not project.operators:
        return project
    project, note = without_untrusted(project, options.trust_config)
    if note is not None:
        complain_line(f"{prog}: note: {note}; --trust-config imports them")
    return project


def loaded(options: argparse.Namespace, prog: str) -> bool:
    """Whether the operators of the project could be loaded; if not, stderr says why."""
    from rlx.checker.driver.configuration import ConfigurationError

    try:
        project = settings(options, prog)
        if project.operators or project.allowed:
            from rlx.operators.external import OperatorsError, load

            try:
                load(project.operators, project.allowed, project.root)
            except OperatorsError as error:
                raise ConfigurationError(str(error)) from error
    except ConfigurationError as error:
        complain_line(f"{prog}: {error}")
        return False
    return True
