"""What is made of score files and records of probes: tables, figures, report pages, pages of results."""
