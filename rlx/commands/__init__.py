"""The commands: each module has a ``main(argv, prog)`` that returns the exit status."""
