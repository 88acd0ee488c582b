"""What several verbs have in common."""
