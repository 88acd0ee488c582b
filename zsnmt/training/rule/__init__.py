"""The rule that chooses the experiment for a text and a machine: what each part of it chooses, the whole, and
that of a demonstration which must end in a given time.
"""
