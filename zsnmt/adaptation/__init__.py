"""A new language joins a trained model (Liu et al. 2021, section 4.2): its text, its subwords, its rows,
its training.
"""
