"""Fills the seams of a model as its options say.

A seam is a place where fairseq's layer or stack takes another module, or one more. All of them are neutral
until they are filled, so that a model's initial weights do not depend on them.
"""
