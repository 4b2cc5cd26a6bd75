"""What rlx uses of ml_dtypes, which has no wheel for browsers: types that NumPy does not have are unknown here."""

from numpy import finfo, iinfo

__all__ = ["finfo", "iinfo"]
