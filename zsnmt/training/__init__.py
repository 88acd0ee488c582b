"""Experiments: their configs, by the rule or by hand, the steps that are done once, binarised data, trainings
by processes of one machine or several, SLURM's jobs, and the systems of studies.
"""
