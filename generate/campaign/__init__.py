"""Campaigns: an oracle examines random programs for a given time."""
