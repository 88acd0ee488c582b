"""What fairseq's training log (`--log-format json`) says."""

import json
import re

from zsnmt.errors import InputError

SKIPPED = re.compile(
    r"\| WARNING \| .* ([\d,]+) samples have invalid sizes and will be skipped, max_positions=\(?(\d[\d, ]*)"
)


def progress_line(log_line: str) -> str | None:
    """What a person wants to see of a line of fairseq's log (`--log-format json`), or None."""
    if skipped := SKIPPED.search(log_line):
        return (
            f"{skipped[1]} training sentences, counted in each direction, are left out: they are longer than "
            f"the {skipped[2]} tokens that the model reads and writes"
        )
    match = re.search(r"\| (train_inner|valid) \| (\{.*\})", log_line)
    if match is None:
        return None
    entry = json.loads(match[2])
    if match[1] == "train_inner":
        loss = entry.get("nll_loss", entry.get("loss"))
        return f"epoch {entry['update']:.1f}, training loss {loss}, {float(entry.get('wps', 0)):.0f} words/s"
    loss = entry.get("valid_nll_loss", entry.get("valid_loss"))
    best = (
        ", the best" if entry.get("valid_best_nll_loss", entry.get("valid_best_loss")) in (None, loss) else ""
    )
    return f"epoch {entry['epoch']} ends, validation loss {loss} bits a token{best}"


def logged_validations(log: str) -> list[dict]:
    """What fairseq's log (`--log-format json`) says of each validation, in order."""
    return [json.loads(entry) for entry in re.findall(r"\| valid \| (\{.*\})", log)]


def training_summary(log: str) -> str:
    """Epochs, updates and best loss from fairseq's log (`--log-format json`)."""
    validations = logged_validations(log)
    if not validations:
        raise InputError("the training log holds no validation; train the run first")
    best = min(validations, key=lambda entry: float(entry["valid_nll_loss"]))
    last = validations[-1]
    return (
        f"{last['epoch']} epochs, {last['valid_num_updates']} updates, best validation loss "
        f"{best['valid_nll_loss']} bits a token in epoch {best['epoch']}"
    )
