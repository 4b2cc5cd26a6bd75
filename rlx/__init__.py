"""rlx: formal semantics and verification for Relax, the tensor-program IR of Apache TVM."""
