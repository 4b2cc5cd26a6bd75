"""The commands `rlx run` and `rlx step`."""
