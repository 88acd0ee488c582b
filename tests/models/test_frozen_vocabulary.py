"""Languages added to a model whose everything else is frozen: what was there before keeps its bits."""

from collections.abc import Iterator

import pytest
import torch
from fairseq import utils
from fairseq.criterions.label_smoothed_cross_entropy import (
    LabelSmoothedCrossEntropyCriterion,
    label_smoothed_nll_loss,
)
from fairseq.optim.adam import Adam
from fairseq.sequence_generator import EnsembleModel, SequenceGenerator

from tests.conftest import LANGUAGES, make_dictionary, toy_options
from tests.support.rounding import assert_alike
from zsnmt.decoding.encode_once import EncodeOnce
from zsnmt.errors import InputError
from zsnmt.models.zs_transformer import ZeroShotTransformer

OLD, SECOND, THIRD = SIZES = (
    31,
    38,
    42,
)  # of the dictionary: at first, with dd and 6 pieces, with ee and 3 pieces
TAGS = dict(piv=4, aa=5, bb=6, cc=7, dd=31, ee=38)
PAD, EOS = 1, 2
TABLES = {
    "all tied": dict(),
    "decoder tied": dict(share_all_embeddings=False, share_decoder_input_output_embed=True),
    "untied": dict(share_all_embeddings=False),
}
BLOCKS = dict(decoder_language_feed_forward_layers="top2", decoder_language_feed_forward_dim=9)
STAGES = {
    1: dict(frozen_vocabulary="none"),
    2: dict(frozen_vocabulary="31"),
    3: dict(frozen_vocabulary="31,38"),
}


class GrownTask:
    """A task whose dictionary has grown to a stage, counted from 1."""

    def __init__(self, stage: int) -> None:
        self.langs = [*LANGUAGES, "dd", "ee"][: 3 + stage]
        dictionary = make_dictionary()
        for symbol in ["__dd__", *"pqrstu", "__ee__", *"xyz"][: SIZES[stage - 1] - OLD]:
            dictionary.add_symbol(symbol)
        assert len(dictionary) == SIZES[stage - 1]
        self.source_dictionary = self.target_dictionary = dictionary


def build(stage: int, seed: int = 7, **options) -> ZeroShotTransformer:
    torch.manual_seed(seed)
    return ZeroShotTransformer.build_model(toy_options(**{**STAGES[stage], **options}), GrownTask(stage))


def grow(old: ZeroShotTransformer, stage: int, **options) -> ZeroShotTransformer:
    """A model of a later stage whose first rows, and all else, are the old one's; its new rows are
    likelier.
    """
    new = build(stage, seed=8, **options)
    state = new.state_dict()
    for name, value in old.state_dict().items():
        if len(state[name]) > len(value):
            state[name][len(value) :] *= 4
        state[name][: len(value)] = value
    new.load_state_dict(state)
    return new


def batch(languages: str, seed: int = 1, words: range = range(8, OLD), lengths=(5, 3, 4)) -> dict:
    """A batch into languages, one a row: sources padded on the left, targets on the right."""
    generator = torch.Generator().manual_seed(seed)
    sources, targets, prefixes = [], [], []
    for place, language in enumerate(languages.split()):
        length = lengths[place % len(lengths)]
        source, target = (
            torch.tensor(words)[torch.randint(len(words), (length,), generator=generator)] for _ in range(2)
        )
        sources.append(torch.tensor([PAD] * (5 - length) + source.tolist() + [EOS]))
        targets.append(torch.tensor(target.tolist() + [EOS] + [PAD] * (5 - length)))
        prefixes.append(torch.tensor([TAGS[language]] + target.tolist() + [PAD] * (5 - length)))
    source, target = torch.stack(sources), torch.stack(targets)
    net_input = dict(
        src_tokens=source, src_lengths=source.ne(PAD).sum(1), prev_output_tokens=torch.stack(prefixes)
    )
    return dict(net_input=net_input, target=target, ntokens=int(target.ne(PAD).sum()))


def logits(model, sample) -> torch.Tensor:
    with torch.no_grad():
        return model.eval()(**sample["net_input"])[0]


def search(model, sample, stage: int, wrapper=EnsembleModel) -> list[list[dict]]:
    task = GrownTask(stage)
    tags = tuple(f"__{language}__" for language in task.langs)
    generator = SequenceGenerator(
        wrapper([model.eval()]),
        task.target_dictionary,
        beam_size=3,
        max_len_a=0,
        max_len_b=7,
        tokens_to_suppress=tags,
    )
    start = sample["net_input"]["prev_output_tokens"][:, 0].repeat_interleave(3)
    with torch.no_grad():
        return generator.generate([model], sample, bos_token=start)


def loss_of(model, sample, stage: int, smoothing: float = 0.1) -> tuple[torch.Tensor, torch.Tensor]:
    loss, _, log = LabelSmoothedCrossEntropyCriterion(GrownTask(stage), False, smoothing)(model, sample)
    return loss, log["nll_loss"]


def train(model, samples, stage: int, clip_norm: float = 0.0, updates: int = 3) -> None:
    """Updates on all samples by fairseq's Adam and label-smoothed loss."""
    parameters = [parameter for parameter in model.train().parameters() if parameter.requires_grad]
    optimizer = Adam(parameters, lr=0.01, betas=(0.9, 0.98), eps=1e-9)
    for _ in range(updates):
        for sample in samples:
            optimizer.zero_grad()
            loss_of(model, sample, stage)[0].backward()
            utils.clip_grad_norm_(parameters, clip_norm)
            optimizer.step()
    model.eval()


def copied(model) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in model.state_dict().items()}


def changed_rows(before: dict, after: dict) -> dict[str, list[int]]:
    """By the name of each parameter that is not what it was, the rows whose bytes are not."""
    rows = {
        name: [
            row
            for row, (a, b) in enumerate(zip(before[name], after[name], strict=True))
            if bytes_of(a) != bytes_of(b)
        ]
        for name in before
    }
    return {name: found for name, found in rows.items() if found}


def bytes_of(tensor: torch.Tensor) -> bytes:
    return tensor.numpy().tobytes()


def old_batches() -> Iterator[dict]:
    yield batch("aa bb cc")
    yield batch("cc cc cc cc piv aa bb", seed=2)
    yield batch("piv", seed=3)
    yield batch("bb aa", seed=4, lengths=(5,))


SEAMS = [
    dict(),
    dict(encoder_residual_removal_layers="middle", decoder_language_embedding="add", normalization="post"),
    dict(decoder_language_embedding="none", encoder_position_encoding="learned"),
    BLOCKS,
]


@pytest.mark.parametrize("tables", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("seams", SEAMS, ids=["baseline", "residual", "none", "blocks"])
def test_old_languages_keep_every_bit_of_logits_and_log_probabilities(tables, seams):
    old = build(1, **tables, **seams)
    new = grow(old, 2, **tables, **seams)
    for sample in old_batches():
        expected, found = logits(old, sample), logits(new, sample)
        assert torch.equal(found[..., :OLD], expected)
        assert (found[..., OLD:] == -torch.inf).all() and found.size(-1) == SECOND
        for as_log in (True, False):
            normalised = new.get_normalized_probs((found, None), as_log)
            assert torch.equal(normalised[..., :OLD], old.get_normalized_probs((expected, None), as_log))
            assert (normalised[..., OLD:] == (-torch.inf if as_log else 0)).all()


@pytest.mark.slow
@pytest.mark.parametrize("tables", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("wrapper", [EnsembleModel, EncodeOnce])
def test_beam_search_into_old_languages_finds_the_same_hypotheses_with_the_same_scores(tables, wrapper):
    old = build(1, **tables)
    second = grow(old, 2, **tables)
    third = grow(second, 3, **tables)
    for sample in old_batches():
        expected = search(old, sample, 1, wrapper)
        for stage, model in ((2, second), (3, third)):
            for before, after in zip(expected, search(model, sample, stage, wrapper), strict=True):
                assert [each["tokens"].tolist() for each in before] == [
                    each["tokens"].tolist() for each in after
                ]
                for name in ("score", "positional_scores"):
                    assert all(torch.equal(a[name], b[name]) for a, b in zip(before, after, strict=True))
    into_second = batch("dd dd", words=range(8, SECOND))
    found = [
        [(each["tokens"].tolist(), each["score"]) for each in row] for row in search(second, into_second, 2)
    ]
    assert found == [
        [(each["tokens"].tolist(), each["score"]) for each in row] for row in search(third, into_second, 3)
    ]
    assert any(OLD < token < SECOND for row in found for tokens, _ in row for token in tokens)


@pytest.mark.usefixtures("float64")
def test_a_batch_into_languages_of_all_stages_is_each_row_alone():
    model = grow(build(1), 3).double()
    sample = batch("aa ee dd cc ee piv dd")
    together, hypotheses = logits(model, sample), search(model, sample, 3)
    for row, language in enumerate("aa ee dd cc ee piv dd".split()):
        size = THIRD if language == "ee" else SECOND if language == "dd" else OLD
        alone = {"net_input": {name: value[row : row + 1] for name, value in sample["net_input"].items()}}
        found = logits(model, alone)
        assert (found[..., size:] == -torch.inf).all() and found[..., :size].isfinite().all()
        assert_alike(together[row : row + 1], found)
        log_probabilities = model.get_normalized_probs((together, None), True)[row]
        assert_alike(log_probabilities.exp().sum(-1), torch.ones(6, dtype=torch.float64))
        assert_alike(log_probabilities[..., :size], together[row, :, :size].log_softmax(-1))
        (expected,) = search(model, alone, 3)
        assert [each["tokens"].tolist() for each in hypotheses[row]] == [
            each["tokens"].tolist() for each in expected
        ]
        assert max(token for each in expected for token in each["tokens"].tolist()) < size


@pytest.mark.usefixtures("float64")
def test_steps_equal_the_full_pass_whatever_the_stages():
    model = grow(build(1), 3, adapter_dim=3).double()
    sample = batch("aa ee dd", lengths=(5,))
    full = logits(model, sample)
    prefix, state = sample["net_input"]["prev_output_tokens"], {}
    with torch.no_grad():
        encoded = model.encoder(sample["net_input"]["src_tokens"])
        steps = [
            model.decoder(prefix[:, : n + 1], encoder_out=encoded, incremental_state=state) for n in range(6)
        ]
    assert_alike(torch.cat([step for step, _ in steps], dim=1), full)
    of_step = model.get_normalized_probs(steps[0], True)[:, 0]
    assert (of_step[0, OLD:] == -torch.inf).all() and of_step[1].isfinite().all()
    of_loss = model.get_normalized_probs((full, {"in_steps": False}), True)[:, 0]
    assert_alike(of_step[:, :OLD], of_loss[:, :OLD])
    assert_alike(of_loss[0, OLD:], of_loss[0, :OLD].mean().expand(THIRD - OLD))


@pytest.mark.parametrize("languages", ["aa bb cc", "dd dd", "aa dd cc"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.usefixtures("float64")
def test_losses_are_those_over_what_each_language_writes(languages, smoothing):
    old = build(1)
    new = grow(old, 2)
    sample = batch(languages)
    if languages == "aa bb cc":
        assert torch.equal(
            *(loss_of(model.eval(), sample, stage, smoothing)[1] for stage, model in ((1, old), (2, new)))
        )
    loss, nll = loss_of(new.double().eval(), sample, 2, smoothing)
    expected_nll, expected_mean = 0.0, 0.0
    for row, language in enumerate(languages.split()):
        size = SECOND if language == "dd" else OLD
        log_probabilities = logits(new, sample)[row, :, :size].log_softmax(-1)
        within, target = sample["target"][row].ne(PAD), sample["target"][row]
        expected_nll -= log_probabilities.gather(-1, target.unsqueeze(-1))[within].sum()
        expected_mean -= log_probabilities.mean(-1)[within].sum()
    each = smoothing / (SECOND - 1)
    assert_alike(nll, expected_nll)
    assert_alike(loss, (1 - smoothing - each) * expected_nll + each * SECOND * expected_mean)


def test_the_stock_smoothed_loss_differs_by_a_part_of_the_vocabularys_size_alone():
    """fairseq gives each wrong symbol of V its share of V-1, here of the old V: equal up to 1/V of the
    smoothing.
    """
    old = build(1)
    sample = batch("aa bb cc")
    loss, _ = loss_of(grow(old, 2).eval(), sample, 2)
    log_probabilities = old.get_normalized_probs((logits(old, sample), None), True)
    expected, _ = label_smoothed_nll_loss(
        log_probabilities.flatten(0, 1), sample["target"].flatten(), 0.1, PAD
    )
    assert loss.item() == pytest.approx(expected.item(), rel=0.1 / OLD)


TRAININGS = [
    dict(),
    dict(variational_dropout=True, word_dropout=0.3, clip_norm=0.1),
    dict(encoder_residual_removal_layers="middle", normalization="post", decoder_language_embedding="add"),
]


@pytest.mark.slow
@pytest.mark.parametrize("tables", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("options", TRAININGS, ids=["baseline", "dropout", "residual"])
@pytest.mark.parametrize("stage", [2, 3])
def test_training_changes_the_rows_of_the_last_language_and_nothing_else(tables, options, stage):
    options, clip_norm = {**tables, **options}, options.get("clip_norm", 0.0)
    options.pop("clip_norm", None)
    model = build(1, **options)
    samples_of_old = list(old_batches())
    before_growth = [logits(model, sample) for sample in samples_of_old]
    for grown in range(2, stage + 1):
        model = grow(model, grown, **options)
    start, language = SIZES[stage - 2], ("dd", "ee")[stage - 2]
    new_words = range(start + 1, SIZES[stage - 1])
    samples = [
        batch(f"{language} {language}", words=new_words),
        batch(f"aa {language} piv", seed=2, words=new_words),
    ]
    samples[1]["target"].clamp_(max=OLD - 1)
    before = copied(model)
    train(model, samples, stage, clip_norm)
    after = copied(model)
    changed = changed_rows(before, after)
    tables_of_words = [
        name for name in before if name.endswith(("embed_tokens.weight", "output_projection.weight"))
    ]
    languages = "decoder.language_embedding.table.weight"
    assert changed.pop(languages) == [stage + 2]
    assert sorted(changed) == sorted(tables_of_words)
    assert all(min(rows) >= start for rows in changed.values())
    assert changed["decoder.output_projection.weight"] == list(range(start, SIZES[stage - 1]))
    for sample, expected in zip(samples_of_old, before_growth):
        assert torch.equal(logits(model, sample)[..., :OLD], expected)


def test_a_frozen_row_stays_frozen_when_the_model_changes_its_type():
    model = grow(build(1), 2).double()
    loss_of(model, batch("dd aa", words=range(OLD + 1, SECOND)), 2)[0].backward()
    gradient = model.decoder.embed_tokens.weight.grad
    assert not gradient[:OLD].any() and gradient[OLD:].abs().sum(1).all()


# Adapters


def adapter_names(language: int) -> set[str]:
    parts = [f"{part}.{kind}" for part in ("norm", "down", "up") for kind in ("weight", "bias")]
    return {f"decoder.adapters.{layer}.adapters.{language}.{part}" for layer in range(2) for part in parts}


def test_adapters_begin_as_the_identity_and_leave_the_other_initial_weights_alone():
    without, with_them = build(3), build(3, adapter_dim=3)
    first, second = without.state_dict(), with_them.state_dict()
    assert {name for name in second if name not in first} == adapter_names(0) | adapter_names(1)
    assert all(torch.equal(first[name], second[name]) for name in first)
    for languages in ("aa bb", "dd ee aa"):
        sample = batch(languages)
        assert torch.equal(logits(without, sample), logits(with_them, sample))


@pytest.mark.usefixtures("float64")
def test_only_the_last_languages_adapters_train_and_only_its_rows_go_through_them():
    first = build(1)
    second = grow(first, 2, adapter_dim=3)
    train(second, [batch("dd dd", words=range(OLD + 1, SECOND))], 2)
    third = grow(second, 3, adapter_dim=3)
    samples = {languages: batch(languages) for languages in ("aa bb cc", "dd dd", "ee ee")}
    before, outputs = (
        copied(third),
        {languages: logits(third, sample) for languages, sample in samples.items()},
    )
    train(third, [batch("ee ee", words=range(SECOND + 1, THIRD)), batch("aa dd ee", seed=2)], 3)
    changed = set(changed_rows(before, copied(third)))
    assert adapter_names(1) <= changed and not adapter_names(0) & changed
    for languages, expected in outputs.items():
        assert torch.equal(logits(third, samples[languages]), expected) == ("ee" not in languages)
    assert torch.equal(logits(first, samples["aa bb cc"]), outputs["aa bb cc"][..., :OLD])
    assert torch.equal(logits(second, samples["dd dd"]), outputs["dd dd"][..., :SECOND])
    mixed, third = batch("aa ee dd"), third.double()
    for row in range(3):
        alone = {"net_input": {name: value[row : row + 1] for name, value in mixed["net_input"].items()}}
        assert_alike(logits(third, mixed)[row : row + 1], logits(third, alone))


# Blocks of languages


def block_names(language: int) -> set[str]:
    """Those of the language's linear layers; languages are counted from 0, and the pivot has none."""
    parts = [f"{part}.{language}.{kind}" for part in ("widen", "narrow") for kind in ("weight", "bias")]
    return {f"decoder.layers.{layer}.language_feed_forward.{part}" for layer in range(2) for part in parts}


def test_only_the_last_languages_blocks_train_and_those_of_older_ones_keep_their_bits():
    first = build(1, **BLOCKS)
    second = grow(first, 2, **BLOCKS)
    train(second, [batch("dd dd", words=range(OLD + 1, SECOND))], 2)
    third = grow(second, 3, **BLOCKS)
    samples = {languages: batch(languages) for languages in ("aa bb cc", "dd dd", "ee ee")}
    before = copied(third)
    outputs = {languages: logits(third, sample) for languages, sample in samples.items()}
    train(third, [batch("ee ee", words=range(SECOND + 1, THIRD)), batch("aa dd ee", seed=2)], 3)
    changed = changed_rows(before, copied(third))
    weighted = {f"decoder.layers.{layer}.language_feed_forward.weights" for layer in range(2)}
    assert {name for name in changed if "language_feed_forward" in name} == block_names(4) | weighted
    assert all(changed[name] == [4] for name in weighted)  # aa, bb, cc, dd, ee
    for languages, expected in outputs.items():
        assert torch.equal(logits(third, samples[languages]), expected) == ("ee" not in languages)
    assert torch.equal(logits(first, samples["aa bb cc"]), outputs["aa bb cc"][..., :OLD])
    assert torch.equal(logits(second, samples["dd dd"]), outputs["dd dd"][..., :SECOND])


# Options


def test_without_adapters_names_and_initial_weights_are_those_without_the_option():
    plain, frozen = build(3, frozen_vocabulary="none").state_dict(), build(3).state_dict()
    assert list(plain) == list(frozen) and all(torch.equal(plain[name], frozen[name]) for name in plain)


def test_frozen_weights_require_gradients_where_they_are_evaluated_as_those_of_any_model_do():
    """Which kernel multiplies depends on it, and with the kernel the last bits."""
    model = build(3, adapter_dim=3)
    names = (
        "decoder.adapters.0.adapters.1.up.weight",
        "decoder.layers.0.fc1.weight",
        "decoder.adapters.0.adapters.0.up.weight",
    )
    for mode in (True, False, True):
        requires = {
            name for name, parameter in model.train(mode).named_parameters() if parameter.requires_grad
        }
        assert [name in requires for name in names] == [True, not mode, not mode]


def test_without_the_option_everything_trains_and_writes_everything():
    model = build(2, frozen_vocabulary="none")
    assert all(parameter.requires_grad for parameter in model.parameters())
    assert logits(model, batch("aa bb")).isfinite().all()


@pytest.mark.parametrize(
    "options, message",
    [
        (
            dict(weight_decay=0.1),
            "--weight-decay does not go with --frozen-vocabulary, since it changes the old rows",
        ),
        (dict(fp16=True), "--fp16 does not go .* rounds the old weights; --amp does not"),
        (dict(bf16=True), "--bf16 does not go"),
        (
            dict(adaptive_softmax_cutoff="20", share_all_embeddings=False),
            "--adaptive-softmax-cutoff does not go",
        ),
        (dict(frozen_vocabulary="31,50"), "must ascend, below the dictionary's present size, 42"),
        (dict(frozen_vocabulary="42"), "must ascend, below"),
        (dict(frozen_vocabulary="38,31"), "must ascend"),
        (dict(frozen_vocabulary="31,31"), "must ascend"),
        (dict(frozen_vocabulary="31,39"), "no language tag among the symbols 39 to 41"),
        (dict(frozen_vocabulary="33,35"), "no language tag among the symbols 33 to 34"),
        (dict(frozen_vocabulary="4,31"), "no language tag among the symbols 0 to 3"),
        (dict(frozen_vocabulary="many"), "'many': write none, or sizes"),
        (dict(frozen_vocabulary=""), "write none, or sizes"),
        (
            dict(frozen_vocabulary="none", adapter_dim=3),
            "--adapter-dim 3 has no effect without --frozen-vocabulary",
        ),
        (dict(adapter_dim=3, decoder_layerdrop=0.1), "--decoder-layerdrop does not go"),
        (dict(adapter_dim=-3), "--adapter-dim: adapter dimension is -3"),
    ],
)
def test_what_cannot_be_meant_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        build(3, **options)


def test_languages_are_told_by_tags_that_begin_the_decoders_input():
    task = GrownTask(2)
    options = toy_options(frozen_vocabulary="31", decoder_language_embedding="none")
    task.langs = []
    with pytest.raises(InputError, match="--frozen-vocabulary 31 needs a language tag"):
        ZeroShotTransformer.build_model(options, task)
    task.langs = [*LANGUAGES[1:], "dd", LANGUAGES[0]]
    with pytest.raises(InputError, match="in the order of their tags"):
        ZeroShotTransformer.build_model(options, task)
    task.placement = type(
        "Placement", (), {"starts_decoder": False, "name": "t_enc", "IN_DECODER": ("t_dec",)}
    )
    with pytest.raises(
        InputError, match="--frozen-vocabulary 31 reads the language from the decoder's first token"
    ):
        ZeroShotTransformer.build_model(options, task)
