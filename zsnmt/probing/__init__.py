"""Probes of the encoders of runs, as steps that are done once: what is asked for, and how it is made."""
