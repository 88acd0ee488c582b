"""Data parallel training, mixed precision, and the architectures beside fairseq's own task and model."""

from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
import torch

from tests.tasks.conftest import (
    FIRST,
    PIVOT,
    PLUGIN,
    SECOND,
    SUPERVISED,
    TEST,
    TINY,
    TRAINING,
    ZERO_SHOT,
    Output,
    fairseq,
    training_options,
)
from zsnmt.errors import InputError
from zsnmt.modules.cpu_bfloat16 import multiplies_bfloat16
from zsnmt.modules.position_names import ENCODINGS
from zsnmt.runs.checkpoints import load_checkpoint

pytestmark = pytest.mark.slow

NO_DROPOUT = "--dropout 0 --attention-dropout 0 --activation-dropout 0 --word-dropout 0".split()
PLAIN = [*NO_DROPOUT, "--no-save"]
EVERYTHING = ["--valid-lang-pairs", ",".join(SUPERVISED + ZERO_SHOT)]
SECONDS = 120  # until a process counts as stuck
TUPE = (
    "--encoder-position-encoding tupe_relative --decoder-position-encoding none "
    "--relative-attention-distance 2"
)
KEYS = (
    "--encoder-position-encoding relative_key_query --relative-key-query-product "
    "--relative-attention-distance 0"
)
POSITIONS = {"sinusoidal": [], "tupe": TUPE.split(), "keys": KEYS.split()}


@pytest.mark.parametrize(
    "options, message",
    [
        (["--fp16"], "--fp16 is for a GPU; on a CPU leave it out, or give --cpu-bf16"),
        (["--adaptive-softmax-cutoff", "9"], "--criterion label_smoothed_cross_entropy needs; give --crit"),
    ],
)
def test_what_a_training_cannot_do_is_said_before_its_first_update(data, tmp_path, options, message):
    with pytest.raises(InputError, match=message):
        fairseq("train", *training_options(data, tmp_path, "--cpu", *PLAIN, *options))


@pytest.fixture(scope="module", params=POSITIONS)
def positions(request) -> list[str]:
    """Options that say what tells the model the positions of its tokens."""
    return POSITIONS[request.param]


@pytest.fixture(scope="module")
def one_process(data, positions, tmp_path_factory) -> Output:
    """An epoch in which an update sums up the gradients of two batches."""
    options = ["--cpu", *PLAIN, *EVERYTHING, *positions, "--update-freq", 2, "--max-epoch", 1]
    return fairseq("train", *training_options(data, tmp_path_factory.mktemp("one"), *options))


def send_output(pipe: Connection, *options: object) -> None:
    torch.cuda.is_available = lambda: False  # CUDA does not outlive a fork
    pipe.send(fairseq("train", *options))


def two_processes(data: Path, folder: Path, *arguments: object) -> Output:
    """What the first of two data parallel processes puts out.

    They are forks, which saves imports, and meet by a file.
    """
    meeting = ["--distributed-world-size", 2, "--distributed-no-spawn", "--distributed-backend", "gloo"]
    meeting += ["--distributed-init-method", f"file://{folder / 'meeting'}", "--ddp-backend", "legacy_ddp"]
    options = training_options(data, folder, "--cpu", *meeting, "--device-id", 0, *arguments)
    context, workers, pipes = get_context("fork"), [], []
    for rank in range(2):
        receiver, sender = context.Pipe(duplex=False)
        workers.append(
            context.Process(target=send_output, args=(sender, *options, "--distributed-rank", rank))
        )
        pipes.append(receiver)
        workers[-1].start()
        sender.close()
    try:
        assert all(pipe.poll(SECONDS) for pipe in pipes), "a process is stuck"
        return [pipe.recv() for pipe in pipes][0]
    finally:
        for worker in workers:
            worker.kill()
            worker.join()


def test_two_processes_train_as_one_does(data, one_process, positions, tmp_path):
    """An update of two workers has the batches of one worker's two; figures have three digits."""
    two = two_processes(data, tmp_path, *PLAIN, *EVERYTHING, *positions, "--max-epoch", 1)
    for name in ("loss", "nll_loss", "num_updates", "wpb", "bsz", "gnorm"):
        expected = one_process.figures("train_inner", name)
        assert len(expected) > 3 and two.figures("train_inner", name) == pytest.approx(expected, abs=0.002)
    names = [name for name in one_process.logged["valid"][0] if name.startswith("valid_nll_loss")]
    assert len(names) == 1 + 6
    for name in names:
        assert two.figures("valid", name) == pytest.approx(one_process.figures("valid", name), abs=0.002)


def test_activations_computed_again_train_as_those_kept(data, one_process, positions, tmp_path):
    options = ["--cpu", *PLAIN, *positions, "--update-freq", 2, "--max-update", 3, "--disable-validation"]
    options.append("--checkpoint-activations")
    output = fairseq("train", *training_options(data, tmp_path, *options))
    for name in ("loss", "gnorm"):
        assert output.figures("train_inner", name) == pytest.approx(
            one_process.figures("train_inner", name)[:3], abs=0.002
        )


# Precision


def test_bfloat16_on_a_cpu_trains_as_float32_does(data, one_process, positions, tmp_path):
    options = ["--cpu", *PLAIN, *positions, "--update-freq", 2, "--max-epoch", 1]
    output = fairseq("train", *training_options(data, tmp_path, *options, "--cpu-bf16"))
    first, expected = output.figures("train_inner", "loss"), one_process.figures("train_inner", "loss")
    assert first[0] == pytest.approx(expected[0], rel=0.01)
    assert first == pytest.approx(expected, rel=0.03)
    assert (first != expected) == multiplies_bfloat16(), "it makes a difference where the processor has it"


def test_fairseqs_bf16_needs_no_tpu(data, one_process, positions, tmp_path):
    """Here on a CPU, where it makes the model itself bfloat16, as on a GPU."""
    options = [
        "--cpu",
        *PLAIN,
        *positions,
        "--update-freq",
        2,
        "--max-update",
        3,
        "--bf16",
        "--disable-validation",
    ]
    losses = fairseq("train", *training_options(data, tmp_path, *options)).figures("train_inner", "loss")
    expected = one_process.figures("train_inner", "loss")[:3]
    assert losses == pytest.approx(expected, rel=0.03) and losses != expected


@pytest.mark.skipif(
    not torch.cuda.is_available(), reason="--fp16, --bf16 and --amp need a GPU, and there is none"
)
@pytest.mark.parametrize("precision", ["--fp16", "--bf16", "--amp"])
def test_mixed_precision_on_a_gpu_trains_as_float32_does(data, one_process, positions, tmp_path, precision):
    options = [*PLAIN, *positions, "--update-freq", 2, "--max-epoch", 1, precision]
    losses = fairseq("train", *training_options(data, tmp_path, *options)).figures("train_inner", "loss")
    expected = one_process.figures("train_inner", "loss")
    assert losses[0] == pytest.approx(expected[0], rel=0.01)
    assert losses[-1] == pytest.approx(expected[-1], rel=0.03)


# Positions

ONE_UPDATE = ["--cpu", "--max-update", 1]


@pytest.mark.parametrize("chosen", [*ENCODINGS, "relative attention"])
def test_every_position_encoding_trains_and_translates_every_line(data, tmp_path, chosen):
    options = (
        ["--encoder-position-encoding", chosen]
        if chosen in ENCODINGS
        else ["--arch", "zs_transformer_relative"]
    )
    output = fairseq(
        "train", *training_options(data, tmp_path, *options, *ONE_UPDATE, "--disable-validation")
    )
    assert output.figures("train_inner", "gnorm")[0] > 0
    inference = ["-s", FIRST, "-t", SECOND, "--path", tmp_path / "checkpoint_last.pt", "--max-len-b", 9]
    generated = fairseq("generate", data, *PLUGIN, *inference, "--cpu", "--num-workers", 0, "--batch-size", 8)
    assert generated.lines("H").keys() == set(range(TEST))


# Beside fairseq's own


def test_an_architecture_runs_under_fairseqs_task(data, tmp_path):
    """With the tag as the decoder's first token; the language embedding finds it there."""
    stock = [
        "--task",
        "translation_multi_simple_epoch",
        "--lang-dict",
        data / "languages.txt",
        "--lang-pairs",
    ]
    stock += [",".join(SUPERVISED), "--decoder-langtok", "--lang-tok-replacing-bos-eos"]
    output = fairseq("train", *training_options(data, tmp_path, *stock, *ONE_UPDATE))
    assert output.figures("train_inner", "num_updates") == [1]
    inference = [*stock, "-s", FIRST, "-t", SECOND, "--path", tmp_path / "checkpoint_last.pt"]
    generated = fairseq(
        "generate", data, *PLUGIN[:2], *inference, "--cpu", "--num-workers", 0, "--batch-size", 8
    )
    assert (
        len(generated.lines("H")) >= 8
    )  # it loses the last of two batches, see test_every_sentence_is_in_some_batch


@pytest.mark.parametrize("tags", ["t_dec", "s_enc_t_enc"])
def test_fairseqs_model_runs_under_the_task(data, tmp_path, tags):
    stock = [
        "--arch",
        "transformer",
        "--share-all-embeddings",
        "--save-dir",
        tmp_path,
        "--language-tags",
        tags,
    ]
    output = fairseq("train", data, *PLUGIN, *TINY, *TRAINING, *stock, *ONE_UPDATE)
    assert output.figures("train_inner", "num_updates") == [1]


def test_terms_without_weight_train_the_same_model_and_with_weight_another(data, tmp_path):
    """Weights after updates of fairseq-train, bit for bit; and the stock training goes on with terms."""

    def trained(name: str, *options: object) -> tuple[dict, Output]:
        short = ["--cpu", "--max-update", 4, "--no-epoch-checkpoints"]
        output = fairseq("train", *training_options(data, tmp_path / name, *short, *options))
        return load_checkpoint(tmp_path / name / "checkpoint_last.pt")["model"], output

    terms = ["--criterion", "zs_cross_entropy", "--chunked-loss", "--consistency-weight", 0.25]
    terms += [
        "--unlikelihood-weight",
        0.1,
        "--unlikelihood-shared-tokens",
        "spare",
        "--denoising-weight",
        0.5,
        "--agreement-weight",
        0.01,
    ]
    (stock, _), (neutral, _) = trained("stock"), trained("neutral", "--criterion", "zs_cross_entropy")
    assert [*stock] == [*neutral] and all(torch.equal(stock[name], neutral[name]) for name in stock)
    (with_terms, output), (again, _) = trained("terms", *terms), trained("again", *terms)
    assert any(not torch.equal(stock[name], with_terms[name]) for name in stock)
    assert all(torch.equal(again[name], with_terms[name]) for name in again)
    for term in ("consistency", "unlikelihood", "denoising", "agreement"):
        assert output.figures("train_inner", f"{term}_loss")[0] > 0
        assert not output.figures("valid", f"valid_{term}_loss")
    _, going_on = trained("stock", *terms, "--max-update", 6)
    assert len(going_on.figures("train_inner", "consistency_loss")) == 2


def test_a_last_stage_out_of_the_pivot_knows_what_was_trained_before(data, tmp_path):
    """Directions that the last stage leaves out are supervised all the same, not zero-shot."""
    short = ["--cpu", "--max-update", 2, "--no-epoch-checkpoints"]
    fairseq("train", *training_options(data, tmp_path / "first", *short))
    before = tmp_path / "first" / "checkpoint_last.pt"
    out_of_pivot = [direction for direction in SUPERVISED if direction.startswith(PIVOT)]
    stage = ["--finetune-from-model", before, "--lang-pairs", ",".join(out_of_pivot)]
    output = fairseq("train", *training_options(data, tmp_path / "last", *short, *stage))
    last = load_checkpoint(tmp_path / "last" / "checkpoint_last.pt")
    assert (
        {*last["task_state"]["trained"]}
        == {*SUPERVISED}
        == {*load_checkpoint(before)["task_state"]["trained"]}
    )
    assert last["cfg"]["task"].lang_pairs == out_of_pivot
    assert output.figures("train_inner", "num_updates") == [1, 2], "the schedule begins anew"
