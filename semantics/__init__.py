"""What a program means."""
