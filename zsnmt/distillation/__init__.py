"""A teacher's translations become training text for a student, so that directions without text by people have
some (Chen et al. 2017; UM4): what to translate, filters, data, training.
"""
