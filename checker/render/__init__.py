"""Renderings of reports, one file for each format."""
