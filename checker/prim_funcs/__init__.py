"""Rules of the bodies of PrimFuncs: names, buffer accesses, intrinsics, blocks."""
