"""The machine that a training is for."""

import os
from types import SimpleNamespace

import torch

from zsnmt.training.machine import GIGABYTE, this_machine


def test_another_process_asks_for_the_gpu(monkeypatch):
    """Else this one could not fork those that use it. Its number is given as the memory of the GPU."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda device: SimpleNamespace(total_memory=os.getpid())
    )
    asked_in = round(this_machine().gpu * GIGABYTE)
    assert asked_in > 0 and asked_in != os.getpid()
