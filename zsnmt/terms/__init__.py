"""Terms that a remedy for zero-shot translation adds to the loss, one file for each.

A file has a dataclass of the term's options, which fairseq reads, and a class that is a `Term`: it says what
further rows the model is to read besides a batch, and what the loss is of what the model says of them.
`zsnmt/criterions/zs_cross_entropy.py` lists them. A term whose weight is 0 is not made.
"""
