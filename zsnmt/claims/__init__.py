"""What the three papers claim, and what the kept runs say of it, by rule.

`liu`, `ravishankar` and `li` have the claims, which `papers` lists; `verdicts` has the rule; `kept_results`,
`translation`, `probes` and `masked_lms` find the figures; `table` prints them. `needs` says which runs would
tell more, `plan` and `costs` which come first, and `jobs` does them.
"""
