"""From paths to reports: find files, read them, and check each one in isolation."""
