"""Knows where the shared cases lie: beside the checkout, where there are any."""

from pathlib import Path

SHARED = Path(__file__).parent.parent.parent / "shared"
