"""Tables of single studies."""
