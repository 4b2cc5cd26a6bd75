"""`python -m rlx`"""

import sys

from rlx.cli import main

sys.exit(main())
