"""How a student is trained: its options, and how often each set of pairs comes."""

import shlex
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from fairseq.data import SampledMultiDataset

from tests.conftest import ROOT
from tests.data.test_tagged_pairs import pairs
from tests.distillation.conftest import data_of
from zsnmt.decoding.methods.settings import parse_method
from zsnmt.distillation import lesson
from zsnmt.distillation import rounds as in_turn
from zsnmt.distillation.growth import check_growth, deeper_options
from zsnmt.distillation.sampling import sampling_weights
from zsnmt.distillation.settings import Distillation, SyntheticSettings
from zsnmt.distillation.student import choose_options
from zsnmt.distillation.student_options import (
    EPOCHS,
    options_of_config,
    read_options,
    student_options,
    updates_of_epoch,
    word_level_options,
)
from zsnmt.distillation.teacher import Teacher
from zsnmt.errors import InputError
from zsnmt.files.project import PACKAGE
from zsnmt.runs.folder import LOG_FILE
from zsnmt.training.experiment import Experiment
from zsnmt.training.model_check import sizes_of_model
from zsnmt.training.option_words import ON_ZERO_SHOT, options_of
from zsnmt.training.steps import Steps
from zsnmt.training.train import check_options

AUTHENTIC, SYNTHETIC = {"main:aa-piv": 7, "main:piv-aa": 7}, {"targets:aa-bb": 3, "sources:bb-aa": 9}


@pytest.mark.parametrize("share", [0.2, 0.5, 0.75])
def test_authentic_text_comes_once_an_epoch_and_synthetic_text_has_its_share(share):
    weights, size = sampling_weights(AUTHENTIC, SYNTHETIC, share)
    assert size == round(14 / (1 - share)) and sum(weights.values()) == pytest.approx(1)
    assert [*weights] == [*AUTHENTIC, *SYNTHETIC]
    assert sum(weights[name] for name in SYNTHETIC) == pytest.approx(share)
    for of_kind in (AUTHENTIC, SYNTHETIC):  # in proportion to their numbers
        assert len({round(weights[name] / number, 9) for name, number in of_kind.items()}) == 1


def test_without_synthetic_text_an_epoch_is_as_long():
    weights, size = sampling_weights(AUTHENTIC, {}, 0.5)
    assert size == sampling_weights(AUTHENTIC, SYNTHETIC, 0.5)[1] == 28 and weights == dict.fromkeys(
        AUTHENTIC, 0.5
    )


def test_a_direction_gives_each_pair_before_any_again():
    data = pairs("t_dec", sources=(4, 2, 3, 5, 6), targets=(3, 5, 1, 2, 2))
    for number in range(1, 17):
        drawn = data.random_choice_in_dataset(np.random.RandomState(number), number)
        counts = np.bincount(drawn, minlength=5)
        assert len(drawn) == number and counts.max() - counts.min() <= 1


def test_as_many_pairs_as_there_are_come_as_fairseq_draws_them():
    data = pairs("t_dec", sources=(4, 2, 3, 5, 6), targets=(3, 5, 1, 2, 2))
    stock = SampledMultiDataset.random_choice_in_dataset
    for number in range(1, 6):
        ours, theirs = np.random.RandomState(number), np.random.RandomState(number)
        assert (
            data.random_choice_in_dataset(ours, number).tolist()
            == stock(None, theirs, range(5), number).tolist()
        )
        assert ours.randint(1000) == theirs.randint(1000)  # nothing else was drawn


class OfCommand(SimpleNamespace):
    """A teacher that says what its train.command and its record say, whenever it is asked."""

    options, remedy = property(lambda self: options_of(self.run)), Teacher.remedy


@pytest.fixture
def teacher(tmp_path):
    (tmp_path / "train.command").write_text(
        "/env/fairseq-train /old/data --cpu --arch zs_transformer --encoder-layers 4 --lr 0.004 "
        "--max-epoch 90 --criterion cross_entropy --validate-interval 20 --save-interval 20 "
        "--extra-data '{\"sources\": \"/gone\"}' --extra-lang-pairs '{}' "
        "--sampling-weights-from-file /gone.json --virtual-data-size 9 --finetune-from-model /gone.pt"
    )
    return OfCommand(run=tmp_path, model=tmp_path / "model.pt", architecture="zs_transformer", record={})


def depths_and_choices(teacher, architecture: str, *added: str, layers: int | None = 8, **distillation):
    """The options of a deeper student of a teacher of four layers."""
    command = teacher.run / "train.command"
    command.write_text(f"/env/fairseq-train /data --arch {architecture} --encoder-layers 4 {' '.join(added)}")
    teacher.architecture = architecture
    return deeper_options(layers, Distillation(teacher.run, **distillation), teacher, data=teacher.run)


def test_a_config_gives_students_of_translations_more_layers(teacher):
    deeper = ["--encoder-layers", "8"]
    assert depths_and_choices(teacher, "zs_transformer") == deeper
    assert depths_and_choices(teacher, "zs_transformer", sides="self") == deeper
    for unlike in (
        {"sides": "none"},
        {"from_scratch": True},
        {"student": "zs_transformer_residual"},
        {"layers": None},
        {"layers": 4},
    ):
        assert not depths_and_choices(teacher, "zs_transformer", **unlike), unlike
    blocks = ("--decoder-language-feed-forward-layers", "middle")
    assert depths_and_choices(teacher, "zs_transformer", *blocks) == deeper


def test_it_is_said_that_a_student_is_no_deeper_where_it_would_not_begin_alike(teacher, caplog):
    assert not depths_and_choices(teacher, "zs_transformer", "--normalization post")
    assert f"has the 4 encoder layers of {teacher.run}, not 8 (STUDENT_LAYERS): with --norm" in caplog.text


def test_a_deeper_student_has_the_residual_removed_in_its_teachers_layer(teacher):
    deeper = depths_and_choices(teacher, "zs_transformer_residual")
    assert deeper == ["--encoder-layers", "8", "--encoder-residual-removal-layers", "5"]
    before, after = (
        read_options("zs_transformer_residual", words, teacher.run)
        for words in (["--encoder-layers", "4"], deeper)
    )
    check_growth(before, after)


@pytest.mark.parametrize("words", [["--encoder-layers", "4"], ["--encoder-layers=4"]])
def test_the_number_of_layers_that_a_person_gives_goes_before_the_configs(teacher, words):
    depths_and_choices(teacher, "zs_transformer_residual")
    student = Distillation(teacher.run)
    assert deeper_options(8, student, teacher, data=teacher.run, options=["--lr", "0.1"])
    assert not deeper_options(8, student, teacher, data=teacher.run, options=words)


CONFIG = SimpleNamespace(fairseq_options=["--lr", "0.006", "--encoder-layers", "2"], shards=1)


def test_a_student_without_language_blocks_does_not_have_their_width_either(teacher):
    command = teacher.run / "train.command"
    blocks = "--decoder-language-feed-forward-layers middle --decoder-language-feed-forward-dim 12"
    command.write_text(f"/env/fairseq-train /data --arch zs_transformer {blocks} --lr 0.1")
    config = SimpleNamespace(**vars(CONFIG), student_layers=None, distillation=[])
    for own, width in (([], 12), (["--decoder-language-feed-forward-layers", "none"], 1024)):
        student = Distillation(teacher.run)
        options = choose_options(config, student, teacher, start=teacher, data=teacher.run, own=own)
        read = read_options(teacher.architecture, [*options.begun, *options.later], teacher.run)
        assert read.decoder_language_feed_forward_dim == width


@pytest.mark.parametrize(
    "of_teacher, own, layers, width",
    [
        ("--decoder-ffn-embed-dim 30", [], "middle", 15),
        ("--decoder-ffn-embed-dim 30", ["--decoder-language-feed-forward-dim", "4"], "middle", 4),
        (
            "--decoder-language-feed-forward-layers 2 --decoder-language-feed-forward-dim 12",
            *([], "2", 12),
        ),
    ],
)
def test_a_student_gains_language_blocks_half_as_wide_as_its_own_or_keeps_its_teachers(
    teacher, of_teacher, own, layers, width
):
    command = f"/env/fairseq-train /data --arch zs_transformer {of_teacher} --lr 0.1"
    (teacher.run / "train.command").write_text(command)
    config = SimpleNamespace(**vars(CONFIG), student_layers=None, distillation=[])
    student = Distillation(teacher.run, language_blocks=True)
    options = choose_options(config, student, teacher, start=teacher, data=teacher.run, own=own)
    read = read_options(teacher.architecture, [*options.begun, *options.later], teacher.run)
    assert read.decoder_language_feed_forward_layers == layers
    assert read.decoder_language_feed_forward_dim == width


@pytest.mark.parametrize(
    "option, of_teacher",
    [
        ("--encoder-residual-removal-layers", "1 --encoder-residual-replacement mean_pool"),
        ("--encoder-residual-removal-layers", "1 --encoder-residual-removal-updates 40"),
        ("--encoder-position-query-layers", "2 --position-query-base 50"),
        (
            "--encoder-target-language",
            "tag_embedding --encoder-target-language-layers 2 --language-tags t_enc_t_dec",
        ),
        ("--decoder-language-feed-forward-layers", "middle --decoder-language-feed-forward-dim 12"),
    ],
)
def test_what_has_no_effect_without_an_option_that_a_student_leaves_out_is_not_its_teachers(
    teacher, option, of_teacher
):
    """It would be refused, and nobody gave it."""
    sizes = "--encoder-layers 2 --encoder-embed-dim 8 --decoder-layers 1 --decoder-embed-dim 8 --lr 0.1"
    words = [*sizes.split(), option, *of_teacher.split()]
    (teacher.run / "train.command").write_text(shlex.join(["fairseq-train", "/data", *words]))
    config = SimpleNamespace(**vars(CONFIG), student_layers=None, distillation=[])
    student, languages = Distillation(teacher.run), ["piv", "aa", "bb"]

    def check(*own: str, inherited: bool) -> None:
        options = choose_options(config, student, teacher, start=teacher, data=teacher.run, own=own)
        begun = words if inherited else options.begun
        check_options(teacher.architecture, [*begun, *options.later], languages)

    check(inherited=False)
    check(option, "none", inherited=False)
    with pytest.raises(InputError, match=f"has no effect without {option}"):
        check(option, "none", inherited=True)


@pytest.mark.parametrize("of_config", [True, False])
def test_a_student_of_another_schedule_has_no_options_of_its_teachers(teacher, of_config):
    command = teacher.run / "train.command"
    command.write_text(f"{command.read_text()} --lr-scheduler inverse_sqrt --warmup-init-lr 0")
    another = ["--lr-scheduler", "polynomial_decay", "--total-num-update", "70"]
    later = dict(zip(("distillation", "own"), (another, []) if of_config else ([], another)))
    config = SimpleNamespace(**vars(CONFIG), student_layers=None, distillation=later["distillation"])
    options = choose_options(
        config, Distillation(teacher.run), teacher, start=teacher, data=teacher.run, own=later["own"]
    )
    read = read_options(teacher.architecture, [*options.begun, *options.later], teacher.run)
    assert (read.lr_scheduler, read.total_num_update) == ("polynomial_decay", "70")


def test_a_student_goes_on_with_its_teachers_options_and_half_the_learning_rate(teacher):
    options = student_options(CONFIG, Distillation(teacher.run), teacher)
    read = read_options(teacher.architecture, options, teacher.run)
    assert read.lr == [0.003] and read.max_epoch == EPOCHS and read.patience == 3 and read.encoder_layers == 4
    assert read.validate_interval == read.save_interval == 1
    assert read.finetune_from_model == str(teacher.model) and read.data == str(teacher.run)
    assert not {"--extra-data", "--virtual-data-size", "/gone.pt", "/gone.json", "--cpu", "9"} & {*options}
    assert read_options(teacher.architecture, [*options, "--lr", "0.1"], teacher.run).lr == [0.1]


@pytest.mark.parametrize(
    "of_teacher, remedy, kept",
    [
        ("--consistency-weight 0.25 --consistency-stop-gradient copy", "consistency", ""),
        ("--consistency-weight 0.25 --consistency-weight=1 --translation-weight 0.5", "consistency", ""),
        ("--unlikelihood-weight 1 --unlikelihood-form first_word --lr 1", "first_word", "--lr 1"),
        ("--agreement-weight 0.01 --lang-pairs from_pivot", "agreement+from_pivot", ""),
        ("--lang-pairs from_pivot", "from_pivot", ""),
        ("--consistency-weight 0.25", "", "--consistency-weight 0.25"),
        # Word-level distillation was of one training; what was weighed beside it is whole without.
        ("--word-distillation-weight 1 --word-distillation-model m.pt --translation-weight 0", "", ""),
        ("--translation-weight=0.5 --word-distillation-weight=1 --lr 1", "", "--lr 1"),
        (
            "--word-distillation-weight 1 --translation-weight 0.5 --denoising-weight 1",
            "",
            "--translation-weight 0.5 --denoising-weight 1",
        ),
    ],
)
def test_a_student_does_not_have_the_remedy_of_its_teacher(teacher, of_teacher, remedy, kept):
    own = "--lang-pairs en-de,de-en --criterion zs_cross_entropy --lr 0.1"
    (teacher.run / "train.command").write_text(f"/env/fairseq-train /data {own} {of_teacher}")
    teacher.record = {"distillation": {"remedy": remedy} if remedy else {}}
    options = student_options(CONFIG, Distillation(teacher.run), teacher)
    assert options[: options.index("--arch")] == f"{own} {kept}".split()


def test_where_a_config_leaves_the_learning_rate_out_it_is_half_of_the_teachers(teacher):
    config = SimpleNamespace(**{**vars(CONFIG), "fairseq_options": ["--max-epoch", "2"]})
    for words, expected in ((["--lr", "0.006"], 0.003), (["--lr=0.008"], 0.004), ([], 0.002)):
        config.fairseq_options = ["--max-epoch", "2", *words]
        options = student_options(config, Distillation(teacher.run), teacher)
        assert read_options(teacher.architecture, options, teacher.run).lr == [expected]


def test_options_are_read_in_both_forms(teacher):
    (teacher.run / "train.command").write_text(
        "/env/fairseq-train /data --lr 0.004 --validate-interval=20 "
        "--criterion=chunked_label_smoothed_cross_entropy"
    )
    options = student_options(CONFIG, Distillation(teacher.run), teacher)
    assert read_options(teacher.architecture, options, teacher.run).validate_interval == 1
    taught = word_level_options(Distillation(teacher.run, word_level=1), options, teacher)
    assert "--chunked-loss" in taught


@pytest.mark.parametrize("other", [None, False, True])
def test_a_student_of_another_architecture_has_its_residuals_from_the_beginning(teacher, other):
    """Also where the teacher's options name the layers, as those of a deeper student do."""
    early = ["--encoder-residual-removal-layers", "1,3", "--encoder-residual-removal-updates", "404"]
    command = teacher.run / "train.command"
    command.write_text(f"{command.read_text()} {' '.join(early)}")
    student = None if other is None else "zs_transformer_relative" if other else teacher.architecture
    options = student_options(CONFIG, Distillation(teacher.run, student=student), teacher)
    assert [word in options for word in early] == [not other] * 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--epochs 4: the schedule counts updates"),
        (["--max-epoch=5"], "--epochs 4 and --max-epoch behind -- both say how long the training is"),
    ],
)
def test_a_schedule_that_nobody_can_stretch_is_refused_before_anything_is_made(
    teacher, monkeypatch, options, message
):
    """Its end is counted in updates, and the teacher's log does not say how many an epoch has; or it is said
    twice.
    """
    checks = dict.fromkeys(("check_languages", "check_going_on", "check_others"), lambda *_, **__: None)
    vars(teacher).update(checks, record={"system": "x", "seed": 1})
    for module in (in_turn, lesson):
        monkeypatch.setattr(module, "Teacher", lambda *_: teacher)
    monkeypatch.setattr(lesson, "prepare_data", lambda *_: pytest.fail("data are made"))
    own = {
        "distillation": ["--max-epoch", "0", "--max-update", "100"],
        "languages": [],
        "word_level": 0.0,
        "student_layers": None,
    }
    experiment = Experiment(SimpleNamespace(**vars(CONFIG), **own), Path("x.conf"), teacher.run / "x")
    with pytest.raises(InputError, match=message):
        in_turn.distill_rounds(
            Steps("distill"),
            experiment,
            Distillation(teacher.run / "teacher", epochs=4),
            rounds=1,
            name=None,
            seed=None,
            words=[],
            options=options,
        )


@pytest.mark.parametrize(
    ("sides", "later", "kept"),
    [("none", [], False), ("none", ["--valid-lang-pairs=all"], True), ("both", [], True)],
)
def test_zero_shot_directions_choose_checkpoints_where_some_are_validated(text, sides, later, kept):
    """A run whose checkpoints they chose could not be trained further."""
    begun = ["--valid-lang-pairs", "all", ON_ZERO_SHOT, "--lr", "1"]
    found = lesson.without_zero_shot(begun, data_of(text, sides), later)
    assert found == [word for word in begun if kept or word != ON_ZERO_SHOT]


@pytest.fixture
def in_rounds(teacher, monkeypatch):
    """What students of some rounds would be made with: their settings and the rest, for each."""
    vars(teacher).update(record={"system": "x", "seed": 1})
    monkeypatch.setattr(in_turn, "Teacher", lambda *_: teacher)
    config = SimpleNamespace(**vars(CONFIG), word_level=0.0)
    experiment = Experiment(config, Path("x.conf"), teacher.run / "x")

    def distilled(chosen: Distillation, rounds: int, name: str | None, *words: str) -> list:
        made: list = []

        def distill_run(steps, experiment, chosen, **how) -> Path:
            made.append((chosen, how))
            return Path(how["name"])

        monkeypatch.setattr(in_turn, "distill_run", distill_run)
        in_turn.distill_rounds(
            Steps("distill"), experiment, chosen, rounds=rounds, name=name, seed=None, words=words
        )
        return made

    return distilled


@pytest.mark.parametrize("knows_others", [True, False])
def test_of_several_rounds_students_alone_read_two_languages(teacher, in_rounds, capsys, knows_others):
    """Unless the first teacher has learned them, too, as a student has."""
    vars(teacher).update(knows_others=knows_others)
    chosen = Distillation(teacher.run, synthetic=SyntheticSettings(way=parse_method("ensemble")))
    words = "--way", "ensemble", "--share", "0.6"
    (alone,), (first, *others) = (in_rounds(chosen, rounds, "deep", *words) for rounds in (1, 3))
    assert alone[0] == chosen and "--way ensemble --share 0.6" in alone[1]["recipe"]
    assert (first[0].synthetic.ensemble is not None) == knows_others
    assert ("--way ensemble" in first[1]["recipe"]) == knows_others and "--share 0.6" in first[1]["recipe"]
    assert [(each.teacher, how["name"]) for each, how in others] == [
        (Path("deep"), "deep_round2"),
        (Path("deep_round2"), "deep_round3"),
    ]
    for each, how in others:
        assert each.synthetic.ensemble and "--way ensemble --share 0.6 --rounds" in how["recipe"]
    assert ("reads sentences of the pivot alone" in capsys.readouterr().err) != knows_others


def test_the_first_of_several_rounds_alone_begins_with_another_run(teacher, in_rounds):
    chosen, words = (
        Distillation(teacher.run, start=Path("other")),
        ("--start-from", "other", "--share", "0.6"),
    )
    (first, of_first), (second, of_second) = in_rounds(chosen, 2, None, *words)
    assert (first.start, second.start, second.teacher) == (Path("other"), None, Path("x_distilled"))
    assert "--start-from other --share 0.6" in of_first["recipe"]
    assert "--start-from" not in of_second["recipe"] and "--share 0.6 --rounds 2" in of_second["recipe"]


def test_a_recorded_command_is_the_same_whatever_folder_it_is_given_in(in_rounds, tmp_path, monkeypatch):
    (run := tmp_path / "runs" / "other").mkdir(parents=True)
    recorded = set()
    for folder, given in ((tmp_path, "runs/other"), (run, "../other"), (ROOT, str(run))):
        monkeypatch.chdir(folder)
        ((_, how),) = in_rounds(Distillation(run, start=run), 1, "x", "--start-from", given)
        recorded.add(how["recipe"].partition(" --start-from ")[2])
    assert recorded == {str(run)}


def test_what_the_training_would_refuse_is_refused_before_anything_is_translated(made):
    """Its model and its criterion are made, but for the word-level term, whose data are not there yet."""
    small = "--encoder-layers 1 --decoder-layers 1 --encoder-embed-dim 8 --decoder-embed-dim 8".split()
    terms = ["--criterion", "zs_cross_entropy"]

    def sizes(*options: str):
        return sizes_of_model(read_options("zs_transformer", [*small, *terms, *options], made / "data"))

    word_level = ["--word-distillation-weight", "1", "--word-distillation-model", "/not/there.pt"]
    assert sizes() == sizes("--consistency-weight", "1") == sizes(*word_level, "--translation-weight", "0.5")
    with pytest.raises(InputError, match="--ignore-prefix-size is for targets that begin with a tag"):
        sizes("--consistency-weight", "1", "--ignore-prefix-size", "1")
    with pytest.raises(InputError, match="5"):
        sizes("--encoder-residual-removal-layers", "5")


def test_a_student_of_shards_reads_all_text_as_often(teacher):
    config = SimpleNamespace(**{**vars(CONFIG), "shards": 4})
    read = read_options(
        teacher.architecture, student_options(config, Distillation(teacher.run), teacher), teacher.run
    )
    assert read.max_epoch == 4 * EPOCHS and read.patience == 4 * 3


def test_a_teacher_may_have_been_trained_by_a_project_elsewhere(teacher):
    moved = [*student_options(CONFIG, Distillation(teacher.run), teacher), "--user-dir", "/gone/zsnmt"]
    assert read_options(teacher.architecture, moved, teacher.run).user_dir == str(PACKAGE)


def test_a_student_from_scratch_has_those_of_the_config(teacher):
    student = Distillation(teacher.run, student="zs_transformer_residual", from_scratch=True)
    options = student_options(CONFIG, student, teacher)
    read = read_options(student.student, options, teacher.run)
    assert read.arch == "zs_transformer_residual" and read.lr == [0.006] and read.encoder_layers == 2
    assert read.finetune_from_model is None
    config = SimpleNamespace(distillation=["--lr", "0.001"])
    assert options_of_config(config, student) == []
    assert options_of_config(config, Distillation(teacher.run)) == ["--lr", "0.001"]


def test_an_epoch_has_as_many_updates_as_the_teachers_batches_make_it(teacher):
    assert updates_of_epoch(teacher, 1000) is None  # it has no log
    entries = ('{"epoch": 1, "train_bsz": "70"}', '{"epoch": 2, "train_bsz": "80"}')
    (teacher.run / LOG_FILE).write_text("".join(f"2026 | INFO | train | {entry}\n" for entry in entries))
    assert updates_of_epoch(teacher, 1000) == 1000 / 80
    (teacher.run / LOG_FILE).write_text('2026 | INFO | train | {"epoch": 1}\n')
    assert updates_of_epoch(teacher, 1000) is None


def test_an_architecture_that_does_not_translate_is_refused(teacher):
    for name in ("zs_bert", "transformer"):
        with pytest.raises(
            InputError, match=f"no architecture '{name}' that translates; choose zs_transformer,"
        ):
            student_options(CONFIG, Distillation(teacher.run, student=name), teacher)
