"""A person's own parallel text, in the form that it has: tables, what is in them, held-out sets."""
