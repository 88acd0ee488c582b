"""The study of masked language models: does a shared encoder align two languages, and by which position encodings?"""
