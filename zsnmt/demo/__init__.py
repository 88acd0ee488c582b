"""The demonstration: systems trained and shown side by side, on invented languages or on real text."""
