"""Tables of single studies, from score files: distances, encodings, students, factorial designs."""
