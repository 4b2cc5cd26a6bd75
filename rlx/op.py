"""``import rlx.op`` gives :mod:`rlx.transform.op`."""

import sys
from typing import TYPE_CHECKING

from rlx.transform import op

if TYPE_CHECKING:
    from rlx.transform.op import *

sys.modules[__name__] = op
