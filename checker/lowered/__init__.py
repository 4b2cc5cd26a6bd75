"""Rules of lowered programs, which manage memory and shapes themselves."""
