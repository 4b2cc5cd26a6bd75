"""Campaigns: random programs, put before an oracle, for as long as one likes."""
