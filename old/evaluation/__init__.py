"""The evaluation of the specification of 2022, by scopes and big steps."""

from rlx.old.evaluation.run import run

__all__ = ["run"]
