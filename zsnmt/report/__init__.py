"""Tables made from score files."""
