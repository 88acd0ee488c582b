"""Ablation studies: the systems of each, seen in the models that their options build."""

import itertools
import re
from argparse import Namespace
from pathlib import Path

import pytest
from fairseq.modules import LearnedPositionalEmbedding, SinusoidalPositionalEmbedding

from zsnmt.criterions.zs_cross_entropy import TERMS
from zsnmt.decoding.methods.settings import parse_ways
from zsnmt.distillation.rounds import default_name
from zsnmt.distillation.settings import SIDES, Distillation
from zsnmt.errors import InputError
from zsnmt.models.zs_transformer import ZeroShotTransformer
from zsnmt.modules.attention_residual import (
    KeepResidual,
    MeanPoolResidual,
    RemoveResidual,
    StochasticResidual,
)
from zsnmt.modules.position_names import ENCODINGS
from zsnmt.modules.variational_dropout import VariationalDropout
from zsnmt.runs.grid import CONTROL, CORNERS, FEW_LINE_STAGES
from zsnmt.runs.remedies import REMEDIES, remedy_options
from zsnmt.runs.systems import (
    BASELINE,
    BELOW,
    CLIP_DISTANCES,
    RELATIVE,
    RESIDUAL,
    RESIDUAL_QUERY,
    STUDIED,
    System,
)
from zsnmt.training.studies import STUDIES, systems, training_options, ways_of

LAYERS = 4  # the middle one is the third
SIZES = (
    f"--encoder-layers {LAYERS} --decoder-layers 2 --encoder-embed-dim 8 --decoder-embed-dim 8 "
    "--encoder-ffn-embed-dim 20 --decoder-ffn-embed-dim 20 --encoder-attention-heads 2 "
    "--decoder-attention-heads 2 --max-source-positions 31"
).split()
ALIKE = (
    "--word-dropout 0 --decoder-language-embedding none --dropout 0.1 --attention-dropout 0.1 "
    "--activation-dropout 0.1"
).split()
OF_LI = ["li_table_1", "clip_distance"]
WITH_RESIDUAL = [study for study in STUDIES if study not in OF_LI]
ONE_DIRECTION = ["--lang-pairs", "en-it"]


def residuals(system: System, task) -> list[type]:
    """The kind of residual at each encoder layer of a system."""
    return [type(layer.attention_residual) for layer in build(system, task).encoder.layers]


def build(system: System, task) -> ZeroShotTransformer:
    return ZeroShotTransformer.build_model(
        training_options(system.architecture, [*SIZES, *system.options]), task
    )


def changed(kind: type, layer: int) -> list[type]:
    return [kind if number == layer else KeepResidual for number in range(1, LAYERS + 1)]


def test_removal_layer_removes_the_residual_at_each_layer_in_turn(toy_task):
    baseline, *others = systems(["removal_layer"], SIZES)
    assert residuals(baseline, toy_task) == [KeepResidual] * LAYERS
    assert [residuals(system, toy_task) for system in others[:LAYERS]] == [
        changed(RemoveResidual, layer) for layer in range(1, LAYERS + 1)
    ]
    assert [system.name for system in others] == [
        "residual_at_1",
        "residual_at_2",
        "zs_transformer_residual",
        "residual_at_4",
        "residual_at_2_3",
        "residual_everywhere",
    ]


def test_removal_layer_also_removes_it_in_two_layers_and_in_all(toy_task):
    """Liu et al., footnote 6; of two layers the two are all."""
    *_, two, everywhere = systems(["removal_layer"], SIZES)
    assert residuals(two, toy_task) == [KeepResidual, RemoveResidual, RemoveResidual, KeepResidual]
    assert residuals(everywhere, toy_task) == [RemoveResidual] * LAYERS
    small = systems(["removal_layer"], [*SIZES, "--encoder-layers", "2"])
    assert [system.name for system in small[1:]] == ["residual_at_1", RESIDUAL.name, "residual_everywhere"]


def test_query_and_variational_are_the_six_systems_of_the_papers_appendix(toy_task):
    """Liu et al., appendix A: baseline, residual, residual and query, each without and with variational
    dropout.
    """
    found = {}
    for system in systems(["variational"], SIZES):
        model = build(system, toy_task)
        layers = model.encoder.layers
        found[system.name] = (
            residuals(system, toy_task).count(RemoveResidual),
            sum(layer.position_query is not None for layer in layers),
            isinstance(layers[0].dropout_module, VariationalDropout),
        )
    assert found == {
        "zs_transformer": (0, 0, False),
        "variational": (0, 0, True),
        "zs_transformer_residual": (1, 0, False),
        "residual_variational": (1, 0, True),
        "zs_transformer_residual_query": (1, 1, False),
        "residual_query_variational": (1, 1, True),
    }
    assert systems(["query"], SIZES) == [BASELINE, RESIDUAL, RESIDUAL_QUERY]
    assert {*systems(["query"], SIZES)} < {*systems(["variational"], SIZES)}


def test_li_table_1_trains_base_and_relative_attention_in_both_directions():
    given = [*SIZES, *ALIKE, *ONE_DIRECTION]
    found = {
        system.name: training_options(system.architecture, [*given, *system.options])
        for system in systems(["li_table_1"], given)
    }
    assert {
        name: (options.lang_pairs, options.relative_attention_distance) for name, options in found.items()
    } == {
        "zs_transformer": ("en-it", "none"),
        "zs_transformer_relative": ("en-it", "16"),
        "zs_transformer_it_en": ("it-en", "none"),
        "zs_transformer_relative_it_en": ("it-en", "16"),
    }


def test_positions_are_sinusoidal_and_learned_with_and_without_the_residual(toy_task):
    found = {}
    for system in systems(["positions"], SIZES):
        model = build(system, toy_task)
        kinds = type(model.encoder.embed_positions), type(model.decoder.embed_positions)
        found[system.name] = (*kinds, residuals(system, toy_task).count(RemoveResidual))
    sinusoidal, learned = [SinusoidalPositionalEmbedding] * 2, [LearnedPositionalEmbedding] * 2
    assert found == {
        "zs_transformer": (*sinusoidal, 0),
        "zs_transformer_residual": (*sinusoidal, 1),
        "learned_positions": (*learned, 0),
        "residual_learned_positions": (*learned, 1),
    }


def test_replacement_puts_each_kind_in_the_place_of_the_middle_residual(toy_task):
    found = {system.name: residuals(system, toy_task) for system in systems(["replacement"], SIZES)}
    assert found == {
        "zs_transformer": [KeepResidual] * LAYERS,
        "zs_transformer_residual": changed(RemoveResidual, 3),
        "residual_mean_pool": changed(MeanPoolResidual, 3),
        "residual_stochastic": changed(StochasticResidual, 3),
    }


def test_studies_share_the_plain_systems_under_the_names_of_their_architectures():
    given = [*SIZES, *ALIKE, *ONE_DIRECTION]
    of_each = {study: systems([study], given) for study in STUDIES}
    assert all(study[0] == BASELINE for study in of_each.values())
    assert [study for study in STUDIES if RESIDUAL in of_each[study]] == WITH_RESIDUAL
    everything = [system for study in of_each.values() for system in study]
    plain = [system for system in everything if not system.options and not system.sides]
    assert plain == [system for system in everything if system.name == system.architecture]
    together = systems([*STUDIES, *STUDIES], given)
    assert together[0] == BASELINE and len({system.name for system in together}) == len(together)
    assert {*together} == {*everything}
    for_baselines, for_residuals = len(STUDIES) - 1, len(WITH_RESIDUAL) - 1
    for_others = len(BELOW) + 1 + 1  # of `encodings` in all layers; the query; relative attention, k = 16
    for_others += 2 + 2  # the other two corners of the grid; the controls of students
    for_others += 2 * (1 + 3)  # control and single remedies of those that are trained with two
    assert len(everything) - len(together) == for_baselines + for_residuals + for_others


def test_clip_distance_varies_the_distance_of_relative_attention_and_nothing_else():
    """Li (2019), Table 2; the architecture's own distance is the paper's 16."""
    baseline, *others = systems(["clip_distance"], [*SIZES, *ALIKE])
    found = [
        vars(training_options(system.architecture, [*SIZES, *ALIKE, *system.options]))
        for system in (baseline, *others)
    ]
    assert [options["relative_attention_distance"] for options in found] == [
        "none",
        *map(str, (0, 1, 2, 4, 16, 64)),
    ]
    assert [others[4], [*CLIP_DISTANCES]] == [RELATIVE, [0, 1, 2, 4, 16, 64]]
    positions = {"encoder_position_encoding": "none", "decoder_position_encoding": "none"}
    for options in found[1:]:
        assert found[0] | positions == options | {
            name: found[0][name] for name in ("arch", "relative_attention_distance")
        }


def test_encodings_are_all_that_the_model_has_with_and_without_the_residual():
    study = systems(["encodings"], SIZES)
    found = [training_options(system.architecture, [*SIZES, *system.options]) for system in study]
    pairs = [
        (options.encoder_position_encoding, options.encoder_residual_removal_layers) for options in found
    ]
    assert pairs == [(encoding, layers) for encoding in ENCODINGS for layers in ("none", "middle")]


@pytest.mark.parametrize("layers, below", [(5, [1, 2]), (4, [1, 2]), (2, [1])])
def test_bias_layers_has_positions_everywhere_or_before_the_removal_alone(layers, below):
    baseline, residual, *others = systems(["bias_layers"], [*SIZES, "--encoder-layers", str(layers)])
    assert (baseline, residual) == (BASELINE, RESIDUAL) and [system.name for system in others] == [
        "residual_tupe_relative",
        "residual_tupe_relative_below",
        "residual_relative_key",
        "residual_relative_key_below",
    ]
    for everywhere, some in (others[:2], others[2:]):
        assert some.options == (
            *everywhere.options,
            "--encoder-position-bias-layers",
            ",".join(map(str, below)),
        )
        assert some.architecture == everywhere.architecture == RESIDUAL.architecture


@pytest.mark.parametrize(
    "options, layers", [([], 5), (["--encoder-layers", "8"], 8), (["--encoder-layers=2"], 2)]
)
def test_the_config_says_how_many_layers_there_are(options, layers):
    """5 is what the architecture has where a config says nothing."""
    names = [
        system.name
        for system in systems(["removal_layer"], [*options, "--optimizer", "adam", "--decoder-layers", "1"])
    ]
    several = [f"residual_at_{layers // 2}_{layers // 2 + 1}"] if layers > 2 else []
    assert len(names) == 1 + layers + len(several) + 1
    assert names.index("zs_transformer_residual") == layers // 2 + 1
    assert names[1 + layers :] == [*several, "residual_everywhere"]


def test_distillation_has_students_of_both_systems_with_the_names_that_their_recipe_gives():
    baseline, residual, *students = systems(["distillation"], SIZES)
    assert (baseline, residual) == (BASELINE, RESIDUAL)
    number = len(STUDIED)
    for plain, of_plain in ((BASELINE, students[:number]), (RESIDUAL, students[number:])):
        teacher = Namespace(architecture=plain.architecture, record={"system": plain.name})
        assert {each.sides for each in of_plain} == {*SIDES} - {"between"} == {*STUDIED}
        for student in of_plain:
            assert student.architecture == plain.architecture and not student.options
            assert student.base == plain.name and not student.few_lines
            assert student.name == default_name(Distillation(Path("run"), student.sides), teacher)


def test_second_stages_have_the_names_and_the_options_that_their_recipe_gives():
    stages = systems(["stage_two", "remedies_together"], [*SIZES, "--lr", "0.01"])
    further = [each for each in stages if each.sides]
    assert len(further) > len(REMEDIES)
    for system in further:
        stage = Distillation(
            Path("run"), system.sides, few_lines=system.few_lines, remedy=system.remedy, epochs=None
        )
        teacher = Namespace(architecture=system.architecture, record={"system": system.base})
        assert system.name == default_name(stage, teacher)
        assert [*system.options] == remedy_options(system.remedy, [])


def test_base_grid_is_every_combination_with_a_lower_rate_for_post_norm():
    """Eight cells, and LCS on the four with the tag in the decoder."""
    given = [*SIZES, "--lr", "0.01"]
    study = systems(["base_grid"], given)
    read = [training_options(system.architecture, [*given, *system.options]) for system in study]
    found = [
        (each.normalization, each.language_tags or "t_dec", each.encoder_residual_removal_layers)
        for each in read
    ]
    combinations = {*itertools.product(("pre", "post"), ("t_dec", "t_enc"), ("none", "middle"))}
    lcs = {*itertools.product(("pre", "post"), ("t_enc_t_dec",), ("none", "middle"))}
    assert {*found} == combinations | lcs and len(found) == 12 and study[0] == BASELINE
    for system, options in zip(study, read):
        tagged = "t_dec" in (options.language_tags or "t_dec")
        assert options.lr == [0.01 if options.normalization == "pre" else 0.007]
        assert (options.decoder_language_embedding == "none") == (not tagged)
        assert options.encoder_target_language == ("tag_embedding" if "lcs" in system.name else "none")


def test_blocks_grid_is_every_combination_with_blocks_half_as_wide():
    study = systems(["blocks_grid"], SIZES)
    read = [training_options(system.architecture, [*SIZES, *system.options]) for system in study]
    found = [
        (
            each.encoder_feed_forward_residual_removal_layers,
            each.decoder_language_feed_forward_layers,
            each.encoder_residual_removal_layers,
        )
        for each in read
    ]
    assert found == [*itertools.product(("none", "middle"), repeat=3)]
    assert [system.name for system in study] == [
        "zs_transformer",
        "zs_transformer_residual",
        "blocks",
        "residual_blocks",
        "feed_forward",
        "residual_feed_forward",
        "feed_forward_blocks",
        "residual_feed_forward_blocks",
    ]
    for options in read:
        if options.decoder_language_feed_forward_layers == "middle":
            assert options.decoder_language_feed_forward_dim == options.decoder_ffn_embed_dim // 2


def test_the_decoding_grid_has_two_systems_and_ways_that_no_other_study_has():
    first, second = systems(["decoding_grid"], SIZES)
    assert (first, second) == (BASELINE, RESIDUAL)
    ways = ways_of(["query", "decoding_grid"], RESIDUAL)
    assert len(parse_ways(ways)) == len({*ways}) - 1 == 7 + 3, "own_pivot is no method"
    assert ways_of(["query"], RESIDUAL) == ways_of(["query", "decoding_grid"], RESIDUAL_QUERY) == ()


def test_stage_two_trains_each_corner_on_with_every_remedy_and_without():
    study = systems(["stage_two", "distillation"], [*SIZES, "--criterion", "label_smoothed_cross_entropy"])
    first = {system.name for system in study if not system.sides}
    assert first == {system.name for system in CORNERS.values()}
    for base in first:
        stages = [system for system in study if system.base == base and system.sides == "none"]
        names = [system.name.removeprefix(f"{base}_") for system in stages]
        assert {*names} == {CONTROL, *REMEDIES, *FEW_LINE_STAGES} and len({*names}) == len(names)
        for system, name in zip(stages, names):
            options = training_options(system.architecture, [*SIZES, *system.options])
            weights = [getattr(options, f"{term}_weight", 0) for term in TERMS]
            assert sum(map(bool, weights)) == (name not in (CONTROL, "from_pivot", *FEW_LINE_STAGES))
            assert (options.lang_pairs == "from_pivot") == (name == "from_pivot")


@pytest.mark.parametrize(
    "study, options, message",
    [
        (
            "layers",
            "",
            "there is no study 'layers'; there are query, variational, removal_layer, positions, "
            "replacement, li_table_1, clip_distance, encodings, bias_layers, distillation, base_grid, "
            "blocks_grid, stage_two, remedies_together, decoding_grid",
        ),
        (
            "bias_layers",
            "--encoder-layers 1",
            "needs layers below the middle one, and the model has 1; give it 2 or more",
        ),
        (
            "removal_layer",
            "--encoder-layers 1",
            "compares encoder layers, and the model has 1; give it 2 or more",
        ),
        ("variational", "--variational-dropout", "the config sets --variational-dropout, which a study"),
        (
            "query",
            "--encoder-position-query-layers 2",
            "the config sets --encoder-position-query-layers, which a study",
        ),
        (
            "li_table_1",
            " ".join([*SIZES, *ALIKE]),
            "li_table_1 trains one direction a model, and the config trains all; name one in TRAINING",
        ),
        (
            "li_table_1",
            "--lang-pairs en-it,it-en",
            "and the config trains en-it, it-en; name one in TRAINING, like --lang-pairs en-it",
        ),
        (
            "positions",
            "--encoder-residual-removal-layers 2",
            "the config sets --encoder-residual-removal-layers, which a study",
        ),
        (
            "removal_layer",
            "--encoder-residual-removal-layers=2,3",
            "--encoder-residual-removal-layers=2,3, which a study varies",
        ),
        ("positions", "--decoder-position-encoding none", "the config sets --decoder-position-encoding"),
        ("clip_distance", "--decoder-position-encoding none", "the config sets --decoder-position-encoding"),
        (
            "clip_distance",
            "--relative-attention-distance=4",
            "the config sets --relative-attention-distance=4",
        ),
        ("encodings", "--encoder-position-encoding learned", "the config sets --encoder-position-encoding"),
        (
            "clip_distance",
            "",
            "the defaults of zs_transformer and zs_transformer_relative differ in --activation-dropout "
            "(0.2, 0.1), ",
        ),
        (
            "clip_distance",
            " ".join([*SIZES, *ALIKE[2:]]),
            "differ in --word-dropout (0.1, 0.0): set them in MODEL, so that the systems differ",
        ),
        (
            "replacement",
            "--encoder-residual-replacement mean_pool",
            "the config sets --encoder-residual-replacement",
        ),
        (
            "positions",
            "--encoder-layerz 3",
            "fairseq refuses an option of the training: unrecognized arguments: --enc",
        ),
        (
            "positions",
            "--consistency-weight 0.25",
            "unrecognized arguments: --consistency-weight 0.25; give --criterion zs_cross_entropy, too",
        ),
        (
            "query",
            "--word-distillation-weight 1",
            "unrecognized arguments: --word-distillation-weight 1; give --criterion zs_cross_entropy, too",
        ),
        ("removal_layer", "--encoder-layers many", "argument --encoder-layers: invalid int value: 'many'"),
    ],
)
def test_what_cannot_be_compared_is_refused(study, options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        systems([study], options.split())


def test_what_a_study_does_not_vary_a_config_may_set():
    learned = [
        "--encoder-position-encoding",
        "learned",
        "--encoder-residual-replacement",
        "mean_pool",
        *SIZES,
    ]
    assert len(systems(["removal_layer"], learned)) == 1 + LAYERS + 2
    removed = ["--encoder-residual-removal-layers", "2", *SIZES, *ALIKE]
    assert len(systems(["clip_distance"], removed)) == 1 + len(CLIP_DISTANCES)


def test_second_stages_of_two_architectures_alone_are_those_of_the_study():
    names = ["zs_transformer_consistency", "zs_transformer_residual_consistency"]
    assert [system.name for system in systems(["stage_two"], SIZES, names)] == names
