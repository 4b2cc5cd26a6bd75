"""What holds of lowered programs, which handle memory and shapes by themselves."""
