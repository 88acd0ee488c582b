"""The code that a folder of Hugging Face's transformers brings with it, where its model or text needs some.

It imports nothing of fairseq, and of zsnmt only files that do the same: those are copied beside it.
"""
