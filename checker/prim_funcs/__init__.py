"""What must hold inside of PrimFuncs: names, accesses of buffers, intrinsics, blocks."""
