"""From paths to reports: finding files, reading them, checking each where it cannot hurt the
others.
"""
