"""The model, packed for search: weights side by side, caches without copies."""
