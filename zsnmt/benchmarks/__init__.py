"""Measurements of speed and memory; a function that measures gives the lines of a table in Markdown."""
