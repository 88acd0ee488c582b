"""Tables of single studies, from score files: clip distances, position encodings."""
