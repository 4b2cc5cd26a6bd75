"""What was found, written for a reader: one file a format."""
