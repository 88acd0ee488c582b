"""What is measured of an output: metrics with their uncertainty, and the language it is in."""
