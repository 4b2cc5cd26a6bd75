"""Random programs of casts and annotations with inputs, right and wrong: what may be left out of a
run.
"""

from rlx.generate.casts.law import CastVerdict, examine
from rlx.generate.casts.programs import program

__all__ = ["CastVerdict", "examine", "program"]
