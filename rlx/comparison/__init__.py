"""`rlx compare`: the first binding at which two runs of a model differ."""
