"""Run folders: what is in them, their logs, checkpoints, validations and score files, and the systems they
are of.
"""
