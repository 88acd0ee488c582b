"""Losses as plain functions of logits: no registration, no options read."""
