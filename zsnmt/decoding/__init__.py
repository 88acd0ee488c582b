"""Beam search at the speed of the machine, with fairseq's hypotheses and scores."""
