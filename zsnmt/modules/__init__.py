"""Plain modules: no registration, no options read."""
