"""A certificate as a text that a person follows."""

from __future__ import annotations

from typing import Any

from rlx.solver.proofs.checker import Cond
from rlx.solver.proofs.draft import Spelling

_REASONS = {
    "floor-low": "a remainder is at least 0: {atom} is a quotient",
    "floor-high": "a remainder is less than the divisor: {atom} is a quotient",
    "quotient": "{atom} is the only number with such a remainder",
    "strict": "it is at least 0, and not 0",
    "squeeze": "it is at least 0, and at most 0",
    "factor": "a factor of what is not 0",
    "clash": "both cannot be",
    "max-zero": "{atom} is a maximum with 0",
    "max-least": "{atom} is a maximum",
    "max-cases": "{atom} is one of its operands",
    "choice-low": "{atom} is 0 or 1",
    "choice-high": "{atom} is 0 or 1",
    "choice-cases": "{atom} is 1 exactly where its condition holds",
    "bits": "it holds for each bit",
    "power-low": "{atom} is a power of 2, and more than its exponent",
    "power-sum": "{atom} is a product of powers of 2",
    "bits-split": "the upper and the lower parts of the operands of {atom}",
    "bits-limit": "no operand of {atom} has a bit above",
    "cases": "no case is possible",
    "table": "none of these values is possible",
    "lemma": "its opposite is impossible",
}


def proof_text(certificate: dict[str, Any]) -> str:
    """The facts of a certificate in order, each with its reason, by number."""
    lines = [f"goal: {certificate['goal']}"]
    lines += [f"assuming: {text}" for text in certificate["assume"]]
    proof = certificate["proof"]
    if isinstance(proof, str):
        return "\n".join([*lines, f"no steps were found within the limit of work: {proof}"])
    checker = _Printing(lines)
    checker.claim(certificate)
    lines += [f"let {name} = {text}" for name, text in certificate["names"].items()]
    lines.append("Suppose that it is false. Then all of this holds:")
    for number, cond in enumerate(checker.facts):
        lines.append(f"{number:4}  {checker.sentence(cond)}")
    if not proof:
        lines.append(
            "      False: the opposite of the goal, or an assumption, is false as it stands"
        )
    checker.run(proof)
    lines.append("So the goal holds wherever it is defined.")
    return "\n".join(lines)


class _Printing(Spelling):
    """A checker that prints the steps as it goes."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__()
        self.lines = lines
        self.level = 0

    def run(self, steps: Any, assumed: Cond = ("and", ()), depth: int = 0) -> None:
        if depth:
            before, self.level = len(self.facts), self.level + 1
            parts = assumed[1] if assumed[0] == "and" else (assumed,)
            shown = [f"{i}  {self.sentence(part)}" for i, part in enumerate(parts, before)]
            self.lines.append(f"{self._indent()}suppose {', '.join(shown) or 'that'}")
        super().run(steps, assumed, depth)
        if depth:
            self.level -= 1

    def step(self, given: Any, depth: int) -> None:
        number = len(self.facts)
        uses = given.get("uses", ())
        if "proofs" in given:
            self.lines.append(f"{self._indent()}{self._reason(given)}{self._from(uses)}:")
        super().step(given, depth)
        shown = str(number) if given["gives"] != "False" else "-"
        line = f"{self._indent()}{shown:>4}  {given['gives']}"
        if "proofs" not in given:
            line += f"    [{self._reason(given)}{self._from(uses)}]"
        self.lines.append(line)

    def _indent(self) -> str:
        return "    " * self.level

    def _reason(self, given: dict[str, Any]) -> str:
        if given["rule"] == "sum":
            parts = []
            for factor, ids in zip(given["terms"], given["uses"], strict=True):
                product = "*".join(f"({each})" for each in ids)
                parts.append(
                    factor if not ids else product if factor == "1" else f"{factor}*{product}"
                )
            return "the sum " + " + ".join(parts)
        if given["rule"] == "cut":
            return f"divided by {given['terms'][0]}, rounded down"
        return _REASONS[given["rule"]].format(atom=given.get("atom", ""))

    def _from(self, uses: Any) -> str:
        listed = [each for each in uses if isinstance(each, int)]
        return f", by {', '.join(f'({each})' for each in listed)}" if listed else ""
