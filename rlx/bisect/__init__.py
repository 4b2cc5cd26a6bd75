"""`rlx bisect`: the first pass of a pipeline of TVM that breaks a program."""
