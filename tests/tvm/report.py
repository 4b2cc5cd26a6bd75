"""Print how much of what TVM knows was compared and agrees: ``python -m tests.tvm.report``."""

from __future__ import annotations

from collections import Counter

from .test_models import PROGRAMS, comparison, explained


def main() -> None:
    """One line a program, the causes of differences, the share."""
    compared, causes = 0, Counter[str]()
    for program in PROGRAMS:
        found = comparison(program)
        compared += found.compared
        causes.update(difference.cause for difference in found.differences)
        print(f"{program:<28} {found.compared:>6} compared {len(found.differences):>4} differ")
    for cause, count in causes.most_common():
        print(f"{count:>6} {cause}{'' if cause in explained() else ' (unexplained)'}")
    share = 100 * (compared - causes.total()) / compared
    print(f"{compared} values, {share:.3f} % equal")


if __name__ == "__main__":
    main()
