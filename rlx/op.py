"""``import rlx.op`` gives :mod:`rlx.transform.op`."""

import sys

from rlx.transform import op

sys.modules[__name__] = op
