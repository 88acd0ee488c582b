"""Each repair of fairseq and PyTorch against the same without it."""

import argparse
import importlib.util
import os
import pickle
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path
from unittest import mock

import fairseq.trainer
import fairseq.utils
import pytest
import torch
from fairseq import checkpoint_utils, file_io
from fairseq.data import indexed_dataset
from fairseq.distributed import utils as distributed_utils
from fairseq.logging import meters
from fairseq.models.transformer import transformer_config
from fairseq.optim.adam import Adam
from fairseq.trainer import Trainer
from fairseq_cli import train

from zsnmt import compatibility
from zsnmt.compatibility.options import value_of
from zsnmt.errors import InputError

ROOT = Path(__file__).parents[1]


def stock(module: types.ModuleType) -> types.ModuleType:
    """A second copy of a module of fairseq, without repairs."""
    spec = importlib.util.spec_from_file_location(
        f"stock_{module.__name__.rpartition('.')[2]}", module.__file__
    )
    copy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copy)
    return copy


@pytest.fixture
def checkpoint(tmp_path) -> Path:
    path = tmp_path / "checkpoint.pt"
    state = {
        "args": argparse.Namespace(task="zs_translation", arch="zs_transformer"),
        "model": {"weight": torch.ones(2)},
        "optimizer_history": [{"optimizer_name": "FairseqAdam", "lr_scheduler_state": {}, "num_updates": 0}],
        "extra_state": {"train_iterator": {"epoch": 1}},
    }
    checkpoint_utils.torch_persistent_save(state, str(path))
    return path


# Namespaces in checkpoints


@pytest.fixture
def no_safe_classes():
    listed = torch.serialization.get_safe_globals()
    torch.serialization.clear_safe_globals()
    yield
    torch.serialization.clear_safe_globals()
    torch.serialization.add_safe_globals(listed)


def test_without_the_repair_no_checkpoint_can_be_read(no_safe_classes, checkpoint):
    with pytest.raises(pickle.UnpicklingError, match="argparse.Namespace"):
        checkpoint_utils.load_checkpoint_to_cpu(str(checkpoint))
    compatibility.allow_namespaces_in_checkpoints()
    assert checkpoint_utils.load_checkpoint_to_cpu(str(checkpoint))["args"].arch == "zs_transformer"


class Code:
    """Runs a command when it is unpickled."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple:
        return os.system, (self.command,)


@pytest.mark.parametrize("new_format", [True, False])
def test_a_checkpoint_that_carries_code_is_refused(tmp_path, checkpoint, new_format):
    path, trace = tmp_path / "evil.pt", tmp_path / "trace"
    evil = {**torch.load(checkpoint), "extra_state": Code(f"touch {trace}")}
    torch.save(evil, path, _use_new_zipfile_serialization=new_format)
    for load in (
        lambda: checkpoint_utils.load_checkpoint_to_cpu(str(path)),
        lambda: checkpoint_utils.load_model_ensemble_and_task([str(path)]),
        lambda: Trainer.load_checkpoint(types.SimpleNamespace(task=None), str(path)),
    ):
        with pytest.raises((pickle.UnpicklingError, InputError)) as refused:
            load()
        assert "system" in str(refused.value.__cause__ or refused.value)
    assert not trace.exists()
    torch.load(path, weights_only=False)
    assert trace.exists(), "the file does carry code"


def test_safe_loading_is_switched_off_nowhere():
    """Looks at the code of the project, this file left out."""
    folders = (".ci", "configs", "recipes", "scripts", "tests", "zsnmt")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    assert ROOT / "zsnmt/compatibility/__init__.py" in paths
    for path in paths:
        if path.is_file() and path.suffix in ("", ".conf", ".py", ".sh") and path != Path(__file__):
            text = path.read_text(encoding="utf-8")
            assert "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD" not in text and "weights_only=False" not in text, path


# Options that fairseq evaluates


@pytest.fixture(scope="module")
def evaluating() -> list[types.ModuleType]:
    """The modules of fairseq that evaluate options."""
    paths = [path for path in Path(fairseq.__file__).parent.rglob("*.py") if "examples" not in path.parts]
    names = [
        ".".join(["fairseq", *path.relative_to(Path(fairseq.__file__).parent).with_suffix("").parts])
        for path in paths
        if re.search(r"(?<![\w.])eval\(", path.read_text(encoding="utf-8"))
    ]
    assert {"fairseq.utils", "fairseq.optim.adam", "fairseq.models.fconv"} <= {*names}
    return [importlib.import_module(name) for name in names]


def test_options_are_values_wherever_fairseq_evaluates_them(evaluating, tmp_path):
    code = f"__import__('os').mkdir({str(tmp_path / 'trace')!r})"
    for module in evaluating:
        with pytest.raises(InputError, match="is not a value; give a number, a word in quotes, or a list"):
            module.eval(code)
    assert not (tmp_path / "trace").exists()
    assert fairseq.utils.eval_bool("False") is False and fairseq.utils.eval_bool(True) is False


def test_without_the_repair_an_option_runs_code(tmp_path):
    stock(fairseq.utils).eval_str_list(f"[__import__('os').mkdir({str(tmp_path / 'trace')!r}) or 1]")
    assert (tmp_path / "trace").exists()


@pytest.mark.parametrize(
    "text", ["(0.9, 0.98)", " 1e-3", "[(512, 3)] * 2 + [(64, -1)]", "None", "{'a': ['b', 2 / 4]}", "True"]
)
def test_values_are_those_of_python(text):
    assert value_of(text) == eval(text.strip())


@pytest.mark.parametrize("text", ["", "a", "1 +", "9 ** 9", "f'{1}'", "[x for x in (1,)]", "().__class__"])
def test_what_is_no_value_is_refused(text):
    with pytest.raises(InputError, match="is not a value"):
        value_of(text)


# Options of a transformer


def test_without_the_repair_transformers_share_their_options():
    config = stock(transformer_config).TransformerConfig
    config().encoder.layers = 3
    assert config().encoder.layers == 3


def test_each_transformer_has_its_own_options():
    first, second = (transformer_config.TransformerConfig() for _ in range(2))
    for name in ("encoder", "decoder", "quant_noise"):
        assert type(getattr(first, name)) is type(getattr(second, name)) is not type
        assert getattr(first, name) is not getattr(second, name)
    default = second.encoder.layers
    first.encoder.layers = default + 1
    assert second.encoder.layers == transformer_config.TransformerConfig().encoder.layers == default


def test_options_that_are_given_are_kept():
    encoder = transformer_config.EncDecBaseConfig(layers=2)
    assert transformer_config.TransformerConfig(encoder=encoder).encoder is encoder


# Copies of checkpoints


@pytest.fixture
def interrupted(monkeypatch, tmp_path):
    """A new file and an old one that it is to replace, and a copier that dies half-way."""
    new, old = tmp_path / "checkpoint1.pt", tmp_path / "checkpoint_last.pt"
    new.write_bytes(b"n" * 10)
    old.write_bytes(b"o" * 10)

    def die_half_way(source, target, *_, **__):
        Path(target).write_bytes(Path(source).read_bytes()[:5])
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "copyfile", die_half_way)
    return new, old


def test_without_the_repair_a_copy_that_dies_spoils_the_old_file(interrupted, monkeypatch):
    new, old = interrupted
    module = stock(file_io)
    monkeypatch.setattr(
        module, "IOPathManager", None
    )  # iopath, where it is installed, copies in the same way
    with pytest.raises(KeyboardInterrupt):
        module.PathManager.copy(str(new), str(old), overwrite=True)
    assert old.read_bytes() == b"n" * 5


def test_a_copy_that_dies_leaves_the_old_file(interrupted):
    new, old = interrupted
    with pytest.raises(KeyboardInterrupt):
        file_io.PathManager.copy(str(new), str(old), overwrite=True)
    assert old.read_bytes() == b"o" * 10


def test_a_copy_replaces_the_old_file(tmp_path):
    new, old = tmp_path / "checkpoint1.pt", tmp_path / "checkpoint_last.pt"
    new.write_bytes(b"new")
    old.write_bytes(b"old")
    file_io.PathManager.copy(str(new), str(old), overwrite=True)
    assert old.read_bytes() == b"new" and {*tmp_path.iterdir()} == {new, old}


SAVE = """
import sys
from importlib.machinery import SourceFileLoader
from types import SimpleNamespace
from unittest.mock import MagicMock
stock = SourceFileLoader.get_code

def get_code(self, name):  # as `python -O` compiles it, which would compile all of PyTorch anew
    if name not in ("fairseq.checkpoint_utils", "zsnmt.compatibility.checkpoints"):
        return stock(self, name)
    return compile(self.get_data(self.path), self.path, "exec", dont_inherit=True, optimize=1)

SourceFileLoader.get_code = get_code
from fairseq import checkpoint_utils

def save(folder):
    cfg = SimpleNamespace(
        save_dir=folder, maximize_best_checkpoint_metric=False, no_save=False, no_epoch_checkpoints=True,
        save_interval=1, save_interval_updates=0, keep_best_checkpoints=0, no_last_checkpoints=False,
        write_checkpoints_asynchronously=False, keep_interval_updates=0, keep_last_epochs=0,
    )
    trainer = MagicMock(data_parallel_rank=0, checkpoint_suffix="")
    trainer.get_num_updates.return_value = 3
    trainer.save_checkpoint = lambda path, state: open(path, "w").write("weights") and path
    epoch = SimpleNamespace(epoch=1, end_of_epoch=lambda: True, state_dict=dict)
    checkpoint_utils.save_checkpoint(cfg, trainer, epoch, 2.0)

stock_folder, repaired_folder = sys.argv[1:]
save(stock_folder)
import zsnmt.compatibility
save(repaired_folder)
"""


@pytest.mark.slow
def test_checkpoints_are_copied_where_assertions_are_left_out(tmp_path):
    """After the repair, and not before it, in one process."""
    folders = [tmp_path / "stock", tmp_path / "repaired"]
    for folder in folders:
        folder.mkdir()
    subprocess.run([sys.executable, "-c", SAVE, *folders], check=True, cwd=ROOT, capture_output=True)
    stock, repaired = (sorted(path.name for path in folder.iterdir()) for folder in folders)
    assert stock == ["checkpoint_best.pt"]
    assert repaired == ["checkpoint_best.pt", "checkpoint_last.pt"]


# The state of the task


def some_trainer() -> mock.MagicMock:
    trainer = mock.MagicMock(data_parallel_world_size=1, data_parallel_rank=0)
    trainer.get_criterion.return_value = torch.nn.Module()
    trainer.cfg.ema.store_ema = False
    return trainer


@pytest.mark.slow
@pytest.mark.parametrize("new_format", [True, False])
def test_training_that_goes_on_gives_the_task_its_state(checkpoint, new_format):
    state = {**torch.load(checkpoint), "task_state": {"language_tags": "t_enc"}}
    torch.save(state, checkpoint, _use_new_zipfile_serialization=new_format)
    trainers = [some_trainer(), some_trainer()]
    for trainer, load in zip(
        trainers, (stock(fairseq.trainer).Trainer.load_checkpoint, Trainer.load_checkpoint)
    ):
        load(trainer, str(checkpoint), reset_optimizer=True)
        trainer.model.load_state_dict.assert_called_once()
    trainers[0].task.load_state_dict.assert_not_called()  # without the repair
    trainers[1].task.load_state_dict.assert_called_once_with({"language_tags": "t_enc"})


def test_a_checkpoint_without_state_of_the_task_can_be_read(checkpoint):
    trainer = some_trainer()
    Trainer.load_checkpoint(trainer, str(checkpoint), reset_optimizer=True)
    trainer.task.load_state_dict.assert_called_once_with({})


def test_training_that_begins_has_no_checkpoint(tmp_path):
    trainer = some_trainer()
    Trainer.load_checkpoint(trainer, str(tmp_path / "checkpoint_last.pt"))
    trainer.task.load_state_dict.assert_not_called()


def test_a_training_that_is_to_go_on_does_not_begin_anew(tmp_path):
    with pytest.raises(InputError, match="no checkpoint .*checkpoint7.pt, .* --restore-file a path that is"):
        Trainer.load_checkpoint(some_trainer(), str(tmp_path / "checkpoint7.pt"))


@pytest.mark.parametrize("damage", ["flipped", "truncated"])
def test_training_does_not_go_on_from_a_damaged_checkpoint(checkpoint, damage):
    content = checkpoint.read_bytes()
    place = content.index(torch.ones(2).numpy().tobytes())
    flipped = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
    checkpoint.write_bytes(flipped if damage == "flipped" else content[:-200])
    trainer = some_trainer()
    if damage == "flipped":  # without the repair
        stock(fairseq.trainer).Trainer.load_checkpoint(trainer, str(checkpoint), reset_optimizer=True)
    with pytest.raises(InputError, match="cannot go on from .*checkpoint.pt .*; put a copy of another"):
        Trainer.load_checkpoint(trainer, str(checkpoint), reset_optimizer=True)


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (
            RuntimeError("size mismatch for\n\tx.weight"),
            "the weights of .* \\(size mismatch for x.weight\\); give",
        ),
        (InputError("languages are others"), "^languages are others$"),
    ],
)
def test_a_training_does_not_begin_with_the_weights_of_another_model(checkpoint, raised, said):
    trainer = some_trainer()
    trainer.model.load_state_dict.side_effect = raised
    with pytest.raises(Exception, match="Cannot load model parameters"):  # without the repair
        stock(fairseq.trainer).Trainer.load_checkpoint(trainer, str(checkpoint), reset_optimizer=True)
    with pytest.raises(InputError, match=said):
        Trainer.load_checkpoint(trainer, str(checkpoint), reset_optimizer=True)


def test_a_training_does_not_go_on_with_another_optimiser(checkpoint):
    trainer, state = some_trainer(), torch.load(checkpoint)
    trainer.optimizer.load_state_dict.side_effect = KeyError("another fault")
    for optimiser, error, said in (
        ("FusedAdam", InputError, "cannot go on from .*: Optimizer does not match.*--reset-optimizer"),
        ("MagicMock", KeyError, "another fault"),
    ):
        last = {"criterion_name": "Module", "optimizer_name": optimiser, "lr_scheduler_state": {}}
        trainer._optim_history = [last]
        torch.save(state | {"optimizer_history": [last], "last_optimizer_state": {}}, checkpoint)
        with pytest.raises(error, match=said):
            Trainer.load_checkpoint(trainer, str(checkpoint))


# Patience


def ends_after(losses, save_and_load, stopped_after=()) -> int | None:
    """After which validation, from 1, a training of patience 3 ends, which is stopped after some."""
    cfg = types.SimpleNamespace(
        checkpoint=types.SimpleNamespace(patience=3, maximize_best_checkpoint_metric=False)
    )
    for number, loss in enumerate(losses, start=1):
        if train.should_stop_early(cfg, loss):
            return number
        if number in stopped_after:
            save_and_load()
    return None


@pytest.fixture
def saved(tmp_path, monkeypatch):
    """Saves what a training counts, forgets it as a new process does, and loads it again, by a module's
    trainer.
    """
    monkeypatch.setattr(vars(train)["should_stop_early"], "__dict__", {})

    def save_and_load(trainer_class, **reset):
        trainer, path = some_trainer(), str(tmp_path / "saved.pt")
        trainer.state_dict.return_value = {
            "model": {"weight": torch.ones(2)},
            "optimizer_history": [
                {"optimizer_name": "FairseqAdam", "lr_scheduler_state": {}, "num_updates": 0}
            ],
            "extra_state": {},
        }
        trainer.cfg.checkpoint.write_checkpoints_asynchronously = False
        trainer_class.save_checkpoint(trainer, path, {"train_iterator": {"epoch": 1}})
        vars(train.should_stop_early).clear()
        trainer_class.load_checkpoint(trainer, path, reset_optimizer=True, **reset)

    return save_and_load


LOSSES = [3.0, 2.0, 2.5, 2.4, 2.3, 2.2]  # the second is the best, and three have passed after the fifth


def test_a_training_that_was_stopped_ends_as_one_that_was_not(saved):
    assert ends_after(LOSSES, None) == 5
    vars(train.should_stop_early).clear()
    assert ends_after(LOSSES, lambda: saved(Trainer), stopped_after=(1, 3, 4)) == 5


def test_without_the_repair_a_training_that_is_stopped_goes_on_for_longer(saved):
    unrepaired = stock(fairseq.trainer).Trainer
    assert ends_after(LOSSES, lambda: saved(unrepaired), stopped_after=(4,)) is None


def test_what_begins_with_the_weights_of_another_training_counts_from_the_start(saved):
    def finetune():
        return saved(Trainer, reset_meters=True)

    assert ends_after(LOSSES, finetune, stopped_after=(4,)) is None
    assert train.should_stop_early.best == 2.2


def test_a_checkpoint_without_the_count_can_be_read(saved, checkpoint):
    vars(train.should_stop_early).update(best=1.0, num_runs=2)  # of an earlier training of this process
    Trainer.load_checkpoint(some_trainer(), str(checkpoint), reset_optimizer=True)
    assert vars(train.should_stop_early) == {}


def test_a_repair_made_twice_is_one():
    def repaired():
        return [
            transformer_config.TransformerConfig.__init__,
            *(Trainer.load_checkpoint, Trainer.save_checkpoint, Trainer.train_step),
            *(Trainer.get_valid_iterator, Trainer.begin_valid_epoch),
            *(distributed_utils.distributed_main, train.get_valid_stats),
        ]

    compatibility.choose_by_figures_of_the_task()
    before = repaired()
    compatibility.give_each_transformer_its_own_options()
    compatibility.give_tasks_their_state_back()
    compatibility.count_patience_over_stops()
    compatibility.choose_by_figures_of_the_task()
    compatibility.count_batches_beside_empty_ones()
    compatibility.leave_the_others_at_the_end()
    compatibility.make_no_batches_beforehand()
    assert repaired() == before


# Figures in logs


def test_a_new_figure_moves_those_behind_it_alone_and_the_order_is_fairseqs(monkeypatch):
    stock_dict, moved = stock(meters).MetersDict(), []
    repaired = meters.MetersDict()
    for number in range(12):
        name, priority = f"figure{number}", (10, 20, 10, 20, 5)[number % 5]
        for each in (stock_dict, repaired):
            each.add_meter(name, meters.AverageMeter(), priority)
    assert [*repaired] == [*stock_dict] and repaired.priorities == stock_dict.priorities
    monkeypatch.setattr(meters.MetersDict, "move_to_end", lambda self, key: moved.append(key), raising=False)
    repaired.add_meter("last", meters.AverageMeter(), 20)
    repaired.add_meter("before others", meters.AverageMeter(), 10)
    assert moved == [name for priority, _, name in repaired.priorities if priority == 20]


# Several processes


def test_empty_batches_beside_others_are_left_out(monkeypatch):
    monkeypatch.setattr(Trainer, "train_step", lambda self, samples: samples)
    compatibility.count_batches_beside_empty_ones()
    batch = {"nsentences": 3}
    assert Trainer.train_step(None, [batch, None, {}]) == [batch]
    assert Trainer.train_step(None, [{}, {}]) == [{}]


@pytest.mark.parametrize("module, left", [(distributed_utils, True), (stock(distributed_utils), False)])
def test_connections_to_others_are_closed_when_the_work_is_done(module, left, tmp_path, monkeypatch):
    """Without the repair a thread of gloo may outlive Python, which C++ ends by abort."""
    cfg, done = mock.MagicMock(), []
    cfg.distributed_training.distributed_rank = 0
    torch.distributed.init_process_group("gloo", f"file://{tmp_path}/meeting", rank=0, world_size=1)
    monkeypatch.setitem(module.__dict__, "distributed_init", lambda cfg: 0)
    monkeypatch.setitem(module.__dict__, "get_global_group", lambda: None)
    try:
        module.distributed_main(0, done.append, cfg, {})
        assert done == [cfg] and torch.distributed.is_initialized() is not left
    finally:
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()


def test_an_epoch_goes_on_at_the_same_batch_by_any_number_of_processes(checkpoint, monkeypatch):
    by_four = {**torch.load(checkpoint), "cfg": {"distributed_training": {"distributed_world_size": 4}}}
    torch.save(by_four, checkpoint)
    place = {"iterations_in_epoch": 6}
    monkeypatch.setattr(Trainer, "load_checkpoint", lambda *given: {"train_iterator": {**place}})
    compatibility.give_tasks_their_state_back()
    for processes, batches in ((1, 24), (2, 12), (4, 6), (8, 3)):
        trainer = mock.MagicMock(data_parallel_world_size=processes)
        state = Trainer.load_checkpoint(trainer, str(checkpoint))
        assert state["train_iterator"]["iterations_in_epoch"] == batches


# Binarised text


def test_text_that_is_opened_is_not_read_whole(tmp_path, monkeypatch):
    builder = indexed_dataset.make_builder(f"{tmp_path}/text.bin", impl="mmap", vocab_size=9)
    for number in range(4):
        builder.add_item(torch.arange(number + 1))
    builder.finalize(f"{tmp_path}/text.idx")
    opened = mock.Mock(side_effect=open)
    monkeypatch.setattr(indexed_dataset, "open", opened, raising=False)
    text = indexed_dataset.MMapIndexedDataset(f"{tmp_path}/text")
    assert text.sizes.tolist() == [1, 2, 3, 4] and text[2].tolist() == [0, 1, 2]
    assert [call.args[0] for call in opened.mock_calls] == [f"{tmp_path}/text.idx"]  # for its head


# The compiler


@pytest.fixture
def no_compiler(monkeypatch):
    """Importing PyTorch's compiler is an error."""
    monkeypatch.setitem(sys.modules, "torch._dynamo", None)


def test_without_the_repair_a_method_of_an_optimizer_loads_the_compiler(no_compiler):
    method = torch._disable_dynamo(lambda optimizer: None)
    with pytest.raises(ImportError, match="torch._dynamo"):
        method(None)


def test_an_optimizer_needs_no_compiler(no_compiler):
    optimizer = Adam([torch.ones(2, requires_grad=True)])
    optimizer.load_state_dict(optimizer.state_dict())
    optimizer.zero_grad()


# Attention


def test_attention_that_prepares_itself_for_each_shape_is_not_chosen():
    assert not torch.backends.cuda.cudnn_sdp_enabled()
    assert torch.backends.cuda.mem_efficient_sdp_enabled()
