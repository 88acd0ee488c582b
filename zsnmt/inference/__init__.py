"""A trained run at work: loaded, put behind an engine, asked for translations or states."""
