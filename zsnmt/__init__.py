"""Multilingual zero-shot neural machine translation: a plug-in for fairseq (`--user-dir zsnmt`)."""

import sys

# fairseq imports this package for `--user-dir`; a script that needs no fairseq does not wait for it.
if "fairseq" in sys.modules:
    import zsnmt.criterions  # noqa: F401  (registers the criterions)
    import zsnmt.models  # noqa: F401  (registers the architectures)
    import zsnmt.optim  # noqa: F401  (registers the optimisers)
    import zsnmt.tasks  # noqa: F401  (registers the tasks)
