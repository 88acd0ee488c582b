"""What a model's states know and share: measures on arrays, with their ranges and chance levels."""
