"""Random well-formed programs, and what they find."""
