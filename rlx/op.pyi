from rlx.transform.op import *
