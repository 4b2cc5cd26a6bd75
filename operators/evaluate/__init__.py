"""How operators compute, with NumPy: one file a family, like the declarations."""
