"""Breaks a whole gateway again and again while it works, and then asks whether it has kept its promises."""
