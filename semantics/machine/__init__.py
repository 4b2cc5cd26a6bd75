"""The small-step machine."""
