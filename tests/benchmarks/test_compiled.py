"""The table of compiled encoder layers."""

import torch

from zsnmt.benchmarks.compiled import COMPILED, FAST, STOCK, compiled
from zsnmt.modules.cheap_dropout import CheapDropout


def test_stock_fast_and_compiled_layers_have_a_row_each(monkeypatch):
    given, called = [], []

    def compile_nothing(layer, dynamic):  # the compiler itself takes half a minute
        given.append(layer)
        return lambda *arguments: called.append(layer) or layer(*arguments)

    monkeypatch.setattr(torch, "compile", compile_nothing)
    threads = torch.get_num_threads()
    try:
        lines = [*compiled("demo", sentences=2, length=3, dropout=0.1, rounds=1)]
    finally:
        torch.set_num_threads(threads)
    assert called == 3 * given and not any(isinstance(layer.dropout_module, CheapDropout) for layer in given)
    assert len(given) == 5 and "2 × 3 tokens, dropout 0.1, 1 rounds" in lines[0]
    assert [line.split(" | ")[0] for line in lines[-3:]] == [f"| {name}" for name in (STOCK, FAST, COMPILED)]
