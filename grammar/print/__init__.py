"""From nodes to text."""
