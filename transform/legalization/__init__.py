"""Legalisation: operators become calls of PrimFuncs that are made from tensor expressions."""

from __future__ import annotations

from rlx.transform.legalization.rewrite import Left, Legalized, legalize, legalized

__all__ = ["Left", "Legalized", "legalize", "legalized"]
