"""What current PyTorch and the maintained fork of fairseq (0.12.3.1) need from each other.

Each function is one repair: its docstring says what breaks without it, and
tests/test_compatibility.py holds a test that fails without it. Importing this module applies all.
"""

import argparse
import os
import shutil
from pathlib import Path
from zipfile import is_zipfile

import torch
from fairseq.file_io import PathManager
from fairseq.models.transformer import transformer_config
from fairseq.trainer import Trainer

from zsnmt.errors import InputError
from zsnmt.files import check_archive


def allow_namespaces_in_checkpoints() -> None:
    """Let PyTorch >= 2.6 read the options in fairseq's checkpoints, and nothing else.

    fairseq saves an `argparse.Namespace`, which `torch.load` refuses by default. Naming that one
    harmless class keeps loading safe: a checkpoint that carries code is still refused.
    """
    torch.serialization.add_safe_globals([argparse.Namespace])


def give_each_transformer_its_own_options() -> None:
    """Make `TransformerConfig()` hold its own encoder, decoder and noise options.

    The fork writes `default=EncDecBaseConfig`, the class where an instance is meant: setting
    `config.encoder.layers` on one configuration would set it for every other one in the process.
    """
    stock_init = transformer_config.TransformerConfig.__init__
    if getattr(stock_init, "gives_own_options", False):
        return

    def init(self, *args, **kwargs) -> None:
        stock_init(self, *args, **kwargs)
        for name in ("encoder", "decoder", "quant_noise"):
            if isinstance(getattr(self, name), type):
                setattr(self, name, getattr(self, name)())

    init.gives_own_options = True
    transformer_config.TransformerConfig.__init__ = init


def copy_checkpoints_whole() -> None:
    """Make fairseq's copies of a checkpoint appear whole or not at all.

    It writes a checkpoint once, safely, and copies it to its other names byte by byte: a process killed
    meanwhile leaves a truncated `checkpoint_last.pt`, from which training cannot go on.
    """

    def copy(src_path: str, dst_path: str, overwrite: bool = False) -> str:
        part = f"{dst_path}.part"
        shutil.copyfile(src_path, part)
        os.replace(part, dst_path)
        return dst_path

    PathManager.copy = staticmethod(copy)


def give_tasks_their_state_back() -> None:
    """Let a task see its state in the checkpoint from which training goes on, which is to be undamaged.

    fairseq saves the state of the task, but reads it only for translation: nobody would notice that
    training goes on with other language tags, or other languages, than it began with. Nor that it goes on
    with other weights, since PyTorch compares no checksums.
    """
    stock_load = Trainer.load_checkpoint
    if getattr(stock_load, "gives_state_back", False):
        return

    def load_checkpoint(self, filename: str, *args, **kwargs):
        if PathManager.isfile(filename):
            path = PathManager.get_local_path(filename)
            try:
                check_archive(Path(path))
                checkpoint = torch.load(path, map_location="cpu", mmap=is_zipfile(path))
            except Exception as error:  # torch raises many kinds
                reason = " ".join(str(error).split())[:200]
                raise InputError(
                    f"training cannot go on from {path} ({reason}); put a copy of another checkpoint of its "
                    "folder in its place, or remove it and begin anew"
                ) from error
            self.task.load_state_dict(checkpoint.get("task_state") or {})
        return stock_load(self, filename, *args, **kwargs)

    load_checkpoint.gives_state_back = True
    Trainer.load_checkpoint = load_checkpoint


allow_namespaces_in_checkpoints()
give_each_transformer_its_own_options()
copy_checkpoints_whole()
give_tasks_their_state_back()
