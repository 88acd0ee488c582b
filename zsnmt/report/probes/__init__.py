"""What probes of runs found: files, tables and figures."""
