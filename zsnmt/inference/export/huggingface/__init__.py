"""Runs as folders of Hugging Face's transformers."""
