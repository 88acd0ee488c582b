"""fairseq's own commands with the task: train, validate, generate, interactive and the hub."""

import shutil
from argparse import Namespace
from collections import Counter
from pathlib import Path

import pytest
import torch
from fairseq import checkpoint_utils
from fairseq.sequence_generator import SequenceGenerator
from fairseq.trainer import Trainer
from sacrebleu.metrics import BLEU

from tests.tasks.conftest import (
    BLEU_LINES,
    FIRST,
    LANGUAGES,
    PIVOT,
    PLUGIN,
    SECOND,
    SUPERVISED,
    TEST,
    ZERO_SHOT,
    Output,
    Run,
    batches,
    fairseq,
    task_of,
    towards,
    training_options,
)
from zsnmt.compatibility.checkpoints import choose_by_figures_of_the_task
from zsnmt.data.directions import directions_with_data
from zsnmt.data.reading import encode
from zsnmt.data.tagged_pairs import DirectionSets
from zsnmt.errors import InputError
from zsnmt.languages import language_tag, parse_direction, read_languages
from zsnmt.models.zs_transformer import ZeroShotTransformer
from zsnmt.runs.checkpoints import load_checkpoint
from zsnmt.runs.validation import choosing_directions, read_validations
from zsnmt.text.lines import read_lines
from zsnmt.text.pipeline import TextPipeline
from zsnmt.text.subword import Subwords

pytestmark = pytest.mark.slow

HERE = ["--cpu", "--num-workers", 0]
GNMT_FORM = ("--length-penalty-form", "gnmt")


# Validation


def test_validation_has_a_loss_for_each_direction(tag_run):
    last = {name: float(value) for name, value in tag_run.output.logged["valid"][-1].items()}
    losses = {name: value for name, value in last.items() if name.startswith("valid_nll_loss_")}
    assert set(losses) == {f"valid_nll_loss_{direction}" for direction in SUPERVISED + ZERO_SHOT}
    assert len(set(losses.values())) == 6


def test_the_loss_that_chooses_a_checkpoint_is_the_mean_over_tokens_of_the_directions_of_training(
    data, tag_run
):
    tokens = Counter()
    for batch in batches(task_of(data), "valid", max_sentences=8):
        tokens[batch["direction"]] += batch["ntokens"]
    assert set(tokens) == set(SUPERVISED)
    for figures in tag_run.output.logged["valid"]:
        total = sum(tokens[direction] * float(figures[f"valid_nll_loss_{direction}"]) for direction in tokens)
        assert total / sum(tokens.values()) == pytest.approx(
            float(figures["valid_nll_loss"]), abs=0.001
        )  # 3 digits


def test_zero_shot_directions_count_in_the_loss_where_they_are_to_choose_and_the_record_says_so(
    data, tmp_path
):
    options = "--valid-lang-pairs", "all", "--early-stopping-on-zero-shot"
    output = fairseq("train", *training_options(data, tmp_path, "--cpu", "--max-epoch", 1, *options))
    tokens = Counter()
    for batch in batches(task_of(data, *options[:2]), "valid", max_sentences=8):
        tokens[batch["direction"]] += batch["ntokens"]
    assert {*tokens} == {*SUPERVISED, *ZERO_SHOT}
    (figures,) = output.logged["valid"]
    total = sum(tokens[direction] * float(figures[f"valid_nll_loss_{direction}"]) for direction in tokens)
    assert total / tokens.total() == pytest.approx(float(figures["valid_nll_loss"]), abs=0.001)
    assert {*choosing_directions(tmp_path)} == {*ZERO_SHOT}


def test_a_criterion_without_a_likelihood_of_its_own_has_that_of_directions(data, tmp_path):
    """fairseq's cross_entropy logs a loss alone; the record has what chooses checkpoints by another name."""
    options = "--criterion", "cross_entropy", "--valid-lang-pairs", "all"
    arguments = training_options(data, tmp_path, "--cpu", "--max-epoch", 1, *options)
    place = arguments.index("--label-smoothing")
    output = fairseq("train", *arguments[:place], *arguments[place + 2 :])
    (figures,), (entry,) = output.logged["valid"], read_validations(tmp_path)
    assert float(figures["valid_nll_loss"]) == pytest.approx(float(figures["valid_loss"]), abs=0.001)
    assert entry["nll_loss"] == float(figures["valid_nll_loss"]) and len(entry["directions"]) == 6
    assert (tmp_path / "checkpoint_best.pt").is_file()
    assert "train_nll_loss" not in output.logged["train"][-1]


def test_of_several_validation_sets_the_first_is_recorded_which_chooses_checkpoints(data, tmp_path):
    several = "--valid-subset", "valid,test", "--valid-bleu-lines", 2
    output = fairseq("train", *training_options(data, tmp_path, "--cpu", "--max-epoch", 2, *several))
    recorded = [entry["nll_loss"] for entry in read_validations(tmp_path)]
    assert recorded == output.figures("valid", "valid_nll_loss") != output.figures("test", "test_nll_loss")
    assert len(output.figures("test", f"test_bleu_{SUPERVISED[0]}")) == 2


def test_bleu_of_validation_is_that_of_the_first_lines_translated_greedily(data, text, tag_run):
    models, _, task = checkpoint_utils.load_model_ensemble_and_task(
        [str(tag_run.folder / "checkpoint_last.pt")]
    )
    generator = task.build_generator(models, Namespace(beam=1, max_len_a=1.2, max_len_b=10))
    pipeline = TextPipeline.load(data)

    def raw(tokens: torch.Tensor, language: str) -> str:
        return pipeline.decode([task.target_dictionary[token] for token in tokens if token >= 4], language)

    for direction in map(parse_direction, SUPERVISED + ZERO_SHOT):
        sources, references = (read_lines(text / f"valid.{side}")[:BLEU_LINES] for side in direction)
        hypotheses = []
        for line in sources:  # alone, so that none limits the output of another
            tokens = torch.tensor(encode(pipeline.encode(line, direction.source), task.source_dictionary))
            one = task.inference_dataset([tokens], [len(tokens)], direction)
            ((best, *_),) = task.generate(generator, models, one.collater([one[0]]), direction)
            hypotheses.append(best["tokens"])
        expected = (
            BLEU(force=True)
            .corpus_score([raw(tokens, direction.target) for tokens in hypotheses], [references])
            .score
        )
        assert float(tag_run.output.logged["valid"][-1][f"valid_bleu_{direction}"]) == pytest.approx(
            expected, abs=0.005
        )


def test_a_bleu_of_validation_may_choose_checkpoints(data, tmp_path):
    """Without the repair fairseq ends in the second validation."""
    choose_by_figures_of_the_task()
    figure = f"bleu_{SUPERVISED[0]}"
    chosen = "--best-checkpoint-metric", figure, "--maximize-best-checkpoint-metric"
    options = training_options(data, tmp_path, "--cpu", "--max-epoch", 2, *chosen, "--valid-bleu-lines", 2)
    bleus = fairseq("train", *options).figures("valid", f"valid_{figure}")
    best = load_checkpoint(tmp_path / "checkpoint_best.pt")["extra_state"]
    assert len(bleus) == 2 and best["best"] == pytest.approx(max(bleus), abs=0.005)


def test_a_figure_that_is_not_there_chooses_no_checkpoint(data, tmp_path):
    options = training_options(data, tmp_path, "--cpu", "--max-update", 1, "--best-checkpoint-metric", "bleu")
    with pytest.raises(InputError, match=f"metric bleu is not .* --valid-bleu-lines, bleu_{SUPERVISED[0]}"):
        fairseq("train", *options)


def test_each_validation_is_recorded_beside_the_checkpoints(tag_run):
    recorded, logged = read_validations(tag_run.folder), tag_run.output.logged["valid"]
    assert choosing_directions(tag_run.folder) == []
    assert [entry["epoch"] for entry in recorded] == [1, 2]
    for entry, figures in zip(recorded, logged):
        assert entry["updates"] == int(figures["valid_num_updates"])
        assert entry["nll_loss"] == float(figures["valid_nll_loss"])
        for direction, of_direction in entry["directions"].items():
            assert of_direction == {
                "kind": "supervised" if direction in SUPERVISED else "zero_shot",
                "nll_loss": float(figures[f"valid_nll_loss_{direction}"]),
                "bleu": float(figures[f"valid_bleu_{direction}"]),
            }
        assert set(entry["directions"]) == {*SUPERVISED, *ZERO_SHOT}


def test_directions_of_training_are_those_of_validation_unless_said(prefix_run):
    names = {name for name in prefix_run.output.logged["valid"][-1] if name.startswith("valid_nll_loss_")}
    assert names == {f"valid_nll_loss_{direction}" for direction in SUPERVISED}
    assert not [name for name in prefix_run.output.logged["train"][-1] if "-" in name]


def test_what_is_validated_changes_no_weight(data, tag_run, tmp_path):
    """Nor the choice of the best checkpoint: a run may watch zero-shot directions and stay the same run."""
    fairseq("train", *training_options(data, tmp_path, "--cpu", "--max-epoch", 2))
    for name in ("checkpoint_best.pt", "checkpoint_last.pt"):
        watched, plain = (load_checkpoint(folder / name)["model"] for folder in (tag_run.folder, tmp_path))
        assert watched.keys() == plain.keys() and all(torch.equal(watched[key], plain[key]) for key in plain)


def test_no_batches_of_validation_are_made_before_it(data, tmp_path, monkeypatch):
    """fairseq makes all of them before the first update, too."""
    made: list[str] = []
    stock_collater, stock_step = DirectionSets.collater, Trainer.train_step

    def collater(self: DirectionSets, samples: list[dict], **further: object) -> dict:
        batch = stock_collater(self, samples, **further)
        made.append(batch["direction"])
        return batch

    def train_step(self: Trainer, *given: object, **named: object) -> object:
        made.append("update")
        return stock_step(self, *given, **named)

    monkeypatch.setattr(DirectionSets, "collater", collater)
    monkeypatch.setattr(Trainer, "train_step", train_step)
    fairseq(
        "train", *training_options(data, tmp_path, "--cpu", "--max-epoch", 1, "--valid-lang-pairs", "all")
    )
    start, validation = made.index("update"), len(made) - made[::-1].index("update")
    assert start <= 4  # an example of each set, as fairseq keeps one, and what the first update needs
    assert {*SUPERVISED, *ZERO_SHOT} == {*made[validation:]}


@pytest.mark.parametrize("run", ["tag_run", "prefix_run"])
def test_a_checkpoint_validates_as_it_did_in_training(data, run, request):
    run = request.getfixturevalue(run)
    saved = run.folder / "checkpoint_last.pt"
    again = fairseq(
        "validate", data, *PLUGIN, "--path", saved, *HERE, "--max-tokens", 90, "--log-format", "json"
    )
    for name, value in run.output.logged["valid"][-1].items():
        if "loss" in name and "best" not in name:
            assert float(again.logged["valid"][-1][name]) == pytest.approx(float(value), abs=0.001)


def test_one_direction_can_be_validated(data, tag_run):
    chosen = [*towards(ZERO_SHOT[0]), "--valid-subset", "test", "--batch-size", 5, "--log-format", "json"]
    output = fairseq("validate", data, *PLUGIN, "--path", tag_run.checkpoint, *HERE, *chosen)
    figures = output.logged["test"][-1]
    assert [name for name in figures if "nll_loss_" in name] == [f"test_nll_loss_{ZERO_SHOT[0]}"]
    assert figures[f"test_nll_loss_{ZERO_SHOT[0]}"] == figures["test_nll_loss"]
    assert float(figures["test_bsz"]) == TEST  # of all batches together


def test_logs_of_all_directions_are_alike(data, tag_run):
    """Else data parallel workers, which add up theirs key by key, would add up different things."""
    models, _, task = checkpoint_utils.load_model_ensemble_and_task(
        [str(tag_run.checkpoint)], {"data": str(data)}
    )
    criterion = task.build_criterion(
        checkpoint_utils.load_checkpoint_to_cpu(str(tag_run.checkpoint))["cfg"].criterion
    )
    model = models[0].eval()
    logs = [task.valid_step(batch, model, criterion)[2] for batch in batches(task, "valid", max_sentences=16)]
    kinds = [
        [(name, type(value), getattr(value, "dtype", None)) for name, value in log.items()] for log in logs
    ]
    assert len(logs) >= 6 and all(kind == kinds[0] for kind in kinds)
    by_direction = {name: value for name, value in logs[0].items() if name.endswith("_by_direction")}
    assert [len(value) for value in by_direction.values()] == [len(task.valid_directions)] * 2, (
        "a figure is one tensor, however many directions there are"
    )


# Translation


def generate(tool: str, data: Path, run: Run, direction: str, *arguments: object) -> Output:
    """Call fairseq-generate or -interactive; no tag flag is typed."""
    return fairseq(tool, data, *PLUGIN, *towards(direction), "--path", run.checkpoint, *HERE, *arguments)


@pytest.mark.parametrize("direction", [SUPERVISED[2], ZERO_SHOT[0]])
def test_generate_translates_every_line(data, text, tag_run, direction):
    source, target = parse_direction(direction)
    output = generate("generate", data, tag_run, direction, "--batch-size", 8)
    subwords = Subwords.load(data)
    for kind, language in (("S", source), ("T", target)):
        lines = output.lines(kind)
        decoded = [subwords.decode(lines[number].split()) for number in range(TEST)]
        assert decoded == read_lines(text / f"test.{language}")
    assert output.lines("H").keys() == set(range(TEST))
    assert not any(
        language_tag(language) in line for line in output.lines("H").values() for language in LANGUAGES
    )


def test_a_checkpoint_knows_where_its_tags_stand(data, text, prefix_run):
    """With no flag: both tags at the head of the source, the decoder's start is the end of sentence."""
    head = f"{language_tag(FIRST)} {language_tag(SECOND)} "
    sources = generate("generate", data, prefix_run, ZERO_SHOT[0], "--batch-size", 8).lines("S")
    assert len(sources) == TEST and all(source.startswith(head) for source in sources.values())
    overrides = {"data": str(data), "source_lang": FIRST, "target_lang": SECOND}
    _, _, task = checkpoint_utils.load_model_ensemble_and_task([str(prefix_run.checkpoint)], overrides)
    assert task.placement.decoder_start(task.direction) == task.target_dictionary.eos()
    assert task.args.left_pad_source is True and task.args.left_pad_target is False


@pytest.mark.parametrize("run", ["tag_run", "prefix_run"])
def test_interactive_and_the_hub_translate_as_generate_does(data, text, tmp_path, run, request):
    run = request.getfixturevalue(run)
    expected = generate("generate", data, run, ZERO_SHOT[1], "--batch-size", 8)
    assert len(set(expected.lines("H").values())) > 1
    subwords = Subwords.load(data)
    pieces = [" ".join(subwords.encode(line, SECOND)) for line in read_lines(text / f"test.{SECOND}")]
    (tmp_path / "input").write_text("".join(f"{line}\n" for line in pieces), encoding="utf-8")
    typed = ["--input", tmp_path / "input", "--buffer-size", 100, "--batch-size", 8]
    interactive = generate("interactive", data, run, ZERO_SHOT[1], *typed)
    assert interactive.lines("S") == expected.lines("S") and interactive.lines("H") == expected.lines("H")

    hub = ZeroShotTransformer.from_pretrained(
        str(run.folder), "checkpoint_best.pt", str(data), source_lang=SECOND, target_lang=FIRST, bpe=None
    )
    assert hub.translate(pieces) == [expected.lines("H")[number] for number in range(TEST)]
    assert hub.translate(pieces[0]) == expected.lines("H")[0]


def scored(data: Path, run: Run, *arguments: object) -> dict[int, list[tuple[float, list[float]]]]:
    """The score of each hypothesis, and of each of its tokens, by line: logarithms to base 2."""
    output = generate(
        "generate", data, run, ZERO_SHOT[0], "--beam", 3, "--nbest", 3, "--lenpen", 0.6, *arguments
    )
    rows = [line.split("\t") for line in output.text.splitlines()]
    found: dict[int, list[tuple[float, list[float]]]] = {}
    for (name, score, _), (_, tokens) in zip(
        *([row for row in rows if row[0].startswith(kind)] for kind in ("H-", "P-"))
    ):
        found.setdefault(int(name[2:]), []).append((float(score), [float(each) for each in tokens.split()]))
    return found


def test_generate_scores_with_the_penalty_of_gnmt(data, tag_run):
    """Whoever is asked: fairseq's own penalty without the option, none where fairseq leaves it out."""
    stock, gnmt, plain = (
        scored(data, tag_run, *form) for form in ((), GNMT_FORM, (*GNMT_FORM, "--unnormalized"))
    )
    penalties = (lambda length: length**0.6), (lambda length: ((5 + length) / 6) ** 0.6), (lambda length: 1)
    for found, penalty in zip((stock, gnmt, plain), penalties):
        assert found.keys() == set(range(TEST))
        for hypotheses in found.values():
            assert len(hypotheses) == 3 and hypotheses == sorted(
                hypotheses, key=lambda hypothesis: -hypothesis[0]
            )
            for score, tokens in hypotheses:
                assert score == pytest.approx(
                    sum(tokens) / penalty(len(tokens)), abs=1e-3
                )  # tokens have 4 digits
    assert len({len(tokens) for hypotheses in gnmt.values() for _, tokens in hypotheses}) > 1
    references = [
        generate("generate", data, tag_run, ZERO_SHOT[0], "--score-reference", *form)
        for form in ((), GNMT_FORM)
    ]
    assert references[0].text == references[1].text


def test_the_hub_takes_a_form_for_a_translation(data, tag_run):
    hub = ZeroShotTransformer.from_pretrained(
        str(tag_run.folder), "checkpoint_best.pt", str(data), source_lang=FIRST, target_lang=SECOND, bpe=None
    )
    tokens = hub.encode("unknown words")
    for options, form in (
        (dict(), lambda length: length),
        (dict(length_penalty_form="gnmt"), lambda length: (5 + length) / 6),
    ):
        best = hub.generate([tokens], beam=2, **options)[0][0]
        assert best["score"] == pytest.approx(
            float(best["positional_scores"].sum()) / form(len(best["tokens"])), rel=1e-5
        )
    with pytest.raises(InputError, match="no length penalty of the form 'gmnt'"):
        hub.generate([tokens], length_penalty_form="gmnt")


def test_a_generator_of_another_class_is_made_where_it_is_asked_for(data, tag_run):
    """The stock task drops the class."""

    class Own(SequenceGenerator):
        pass

    models, cfg, task = checkpoint_utils.load_model_ensemble_and_task(
        [str(tag_run.checkpoint)], {"data": str(data)}
    )
    assert type(task.build_generator(models, cfg.generation, seq_gen_cls=Own)) is Own
    assert type(task.build_generator(models, cfg.generation)) is SequenceGenerator


def test_a_model_never_writes_a_tag(data, tag_run):
    overrides = {"data": str(data), "source_lang": FIRST, "target_lang": PIVOT}
    models, cfg, task = checkpoint_utils.load_model_ensemble_and_task([str(tag_run.checkpoint)], overrides)
    generator = task.build_generator(models, cfg.generation)
    tags = {task.target_dictionary.index(language_tag(language)) for language in LANGUAGES}
    likeliest = torch.zeros(len(task.target_dictionary)).index_fill(0, torch.tensor(sorted(tags)), 99.0)
    models[0].decoder.output_projection.register_forward_hook(
        lambda module, inputs, logits: logits + likeliest
    )
    task.load_dataset("test")
    data_set = task.dataset("test")
    sample = data_set.collater([data_set[index] for index in range(TEST)])
    hypotheses = task.inference_step(generator, models, sample)
    assert not tags & {token for best_first in hypotheses for token in best_first[0]["tokens"].tolist()}


# What a checkpoint says of tags and languages


def test_a_contradicting_placement_is_refused(data, prefix_run):
    with pytest.raises(InputError, match="trained with --language-tags s_enc_t_enc, not t_dec"):
        generate("generate", data, prefix_run, ZERO_SHOT[0], "--language-tags", "t_dec")


def test_models_whose_tags_stand_elsewhere_do_not_translate_together(data, tag_run, prefix_run):
    paths, options = [str(run.checkpoint) for run in (tag_run, prefix_run)], towards(ZERO_SHOT[0])
    with pytest.raises(InputError, match="trained with --language-tags t_dec, another with s_enc_t_enc"):
        checkpoint_utils.load_model_ensemble(paths, task=task_of(data, *options))
    models, _ = checkpoint_utils.load_model_ensemble(paths[:1] * 2, task=task_of(data, *options))
    assert len(models) == 2


def go_on(data: Path, run: Run, folder: Path, *arguments: object) -> Output:
    """Train one more epoch, from a copy of a run."""
    shutil.copytree(run.folder, folder)
    return fairseq("train", *training_options(data, folder, "--cpu", "--disable-validation", *arguments))


def test_training_goes_on_where_it_stopped(data, tag_run, tmp_path):
    output = go_on(data, tag_run, tmp_path / "run", "--max-epoch", 3)
    updates = tag_run.output.figures("train", "train_num_updates")
    assert output.figures("train", "train_num_updates") == [updates[1] + updates[0]]
    assert output.figures("train", "epoch") == [3]
    assert output.figures("train", "train_loss")[0] < tag_run.output.figures("train", "train_loss")[1]


@pytest.mark.parametrize(
    "change, words",
    [
        (("--arch", "zs_transformer"), "--encoder-residual-removal-layers middle, not none; go on with that"),
        (("--encoder-position-query-layers", "middle"), "--encoder-position-query-layers none, not middle"),
        (("--encoder-attention-heads", "1"), "--encoder-attention-heads 2, not 1"),
        (("--activation-fn", "gelu"), "--activation-fn relu, not gelu"),
        (("--no-scale-embedding",), "--no-scale-embedding False, not True"),
    ],
)
def test_training_does_not_go_on_as_another_model(data, tag_run, tmp_path, change, words):
    with pytest.raises(InputError, match=f"model was trained with {words}"):
        go_on(data, tag_run, tmp_path / "run", "--max-epoch", 3, *change)


def test_a_training_takes_no_direction_that_is_translated(data, tmp_path):
    """Its checkpoint would not know that this was trained."""
    options = training_options(data, tmp_path / "run", "--cpu", "--disable-validation", "--max-update", 1)
    source, target = directions_with_data(data, "train", read_languages(data))[0].split("-")
    with pytest.raises(InputError, match=f"leave them out, .*--lang-pairs {source}-{target}"):
        fairseq("train", *options, "-s", source, "-t", target)


def test_training_does_not_go_on_with_other_tags_or_languages(data, own_data, prefix_run, tmp_path):
    none = ["--decoder-language-embedding", "none"]
    with pytest.raises(InputError, match="trained with --language-tags s_enc_t_enc, not t_dec"):
        shutil.copytree(prefix_run.folder, tmp_path / "run")
        fairseq("train", *training_options(data, tmp_path / "run", "--cpu", "--max-epoch", 2, *none))
    (own_data / "languages.txt").write_text("".join(f"{language}\n" for language in LANGUAGES[::-1]))
    with pytest.raises(InputError, match="the checkpoint's languages are"):
        go_on(
            own_data,
            prefix_run,
            tmp_path / "other",
            "--max-epoch",
            2,
            *none,
            "--language-tags",
            "s_enc_t_enc",
        )


# TensorBoard


def test_fairseqs_tensorboard_option_shows_the_figures_of_each_direction(data, tmp_path, monkeypatch):
    shown = {}

    class Writer:
        """As much of a SummaryWriter as fairseq's progress bar uses."""

        def __init__(self, folder):
            self.folder = Path(folder)

        def add_text(self, *arguments):
            pass

        def add_scalar(self, name, value, step):
            shown.setdefault(self.folder.name, {})[name] = float(value)

        def flush(self):
            pass

    monkeypatch.setattr("fairseq.logging.progress_bar.SummaryWriter", Writer)
    monkeypatch.setattr("fairseq.logging.progress_bar._tensorboard_writers", {})
    watched = [
        "--valid-lang-pairs",
        "all",
        "--valid-bleu-lines",
        3,
        "--tensorboard-logdir",
        tmp_path / "board",
    ]
    fairseq("train", *training_options(data, tmp_path, "--cpu", "--max-epoch", 1, *watched))
    (entry,) = read_validations(tmp_path)
    for direction, figures in entry["directions"].items():
        assert shown["valid"][f"nll_loss_{direction}"] == figures["nll_loss"]
        assert shown["valid"][f"bleu_{direction}"] == figures["bleu"]
