"""Every term against its formula sentence by sentence, and what holds for all of them."""

import math
from pathlib import Path

import pytest
import torch
from fairseq import metrics

from tests.data.test_tagged_pairs import DICTIONARY, PAD
from tests.support.rounding import assert_alike
from tests.terms.conftest import PIVOTAL, TermTask, batch, criterion, gradients, model_of, teacher_of
from zsnmt.criterions.zs_cross_entropy import TERMS, ZeroShotCrossEntropy, ZeroShotCrossEntropyConfig
from zsnmt.data.span_noise import SpanNoise
from zsnmt.errors import InputError
from zsnmt.languages import language_tag
from zsnmt.runs.trained_directions import TrainedDirections
from zsnmt.terms import word_distillation
from zsnmt.terms.agreement import Agreement
from zsnmt.terms.term import Predictions
from zsnmt.terms.word_distillation import load_teacher
from zsnmt.text.piece_counts import write_piece_counts
from zsnmt.text.words import Words

pytestmark = pytest.mark.usefixtures("float64")
TAGS = {language: DICTIONARY.index(language_tag(language)) for language in ("piv", "aa", "bb", "cc")}
CHUNKED = pytest.mark.parametrize("chunked", [False, True], ids=["whole", "chunked"])
EACH = pytest.mark.parametrize("term", TERMS)


@pytest.fixture(autouse=True)
def fixed_noise(monkeypatch):
    """Every second word masked, whatever the batch and its padding, so that one sentence is as in a batch."""

    def every_second(self, tokens):
        inside = tokens.ne(PAD) & tokens.ne(DICTIONARY.eos())
        return inside & (torch.arange(tokens.size(1)) % 2 == 1)

    monkeypatch.setattr(SpanNoise, "span_mask", every_second)


@pytest.fixture(autouse=True)
def fixed_mixture(monkeypatch):
    """Every second word of a prefix is the target's."""
    monkeypatch.setattr(Agreement, "draw_kept", lambda self, prefix: torch.arange(prefix.size(1)) % 2 == 0)


@pytest.fixture(autouse=True)
def fixed_languages(monkeypatch):
    """The first language that is neither source nor target is the wrong one."""
    monkeypatch.setattr(torch, "multinomial", lambda weights, number: weights.argmax(1, keepdim=True))


def value(term: str, task, model, sample: dict, **options) -> float:
    _, _, log = criterion(task, **{f"{term}_weight": 1.0}, **options)(model, sample)
    return float(log[f"{term}_loss"])


def rows_of(sample: dict) -> list[dict]:
    """Each sentence of a batch as a batch without padding."""
    found = []
    for row in range(len(sample["target"])):
        of_row = {}
        for name in ("src_tokens", "prev_output_tokens"):
            tokens = sample["net_input"][name][row]
            of_row[name] = tokens[tokens.ne(PAD)][None]
        of_row["src_lengths"] = torch.tensor([of_row["src_tokens"].size(1)])
        target = sample["target"][row]
        found.append(
            {
                "net_input": of_row,
                "target": target[target.ne(PAD)][None],
                "languages": sample["languages"][row][None],
                "ntokens": int(target.ne(PAD).sum()),
                **pivot_of(sample, row),
            }
        )
    return found


def pivot_of(sample: dict, row: int) -> dict:
    """What a batch of one sentence has of the pivot's sentence beside it, if there is one."""
    if "pivot" not in sample or not sample["pivot"]["rows"][row]:
        return {}
    tokens = sample["pivot"]["src_tokens"][sample["pivot"]["rows"][:row].sum()]
    tokens = tokens[tokens.ne(PAD)][None]
    lengths = torch.tensor([tokens.size(1)])
    return {"pivot": {"src_tokens": tokens, "src_lengths": lengths, "rows": torch.tensor([True])}}


# What each term is, in a loop over sentences


def say(model, source: list[int], prefix: torch.Tensor) -> torch.Tensor:
    """Log-probabilities (T×V) for one sentence."""
    tokens = torch.tensor([source])
    logits, _ = model(tokens, torch.tensor([len(source)]), prefix)
    return logits[0].log_softmax(-1)


def head(task, source: int, target: int) -> list[int]:
    return [{"source": source, "target": target}[side] for side in criterion_sides(task)]


def criterion_sides(task) -> tuple[str, ...]:
    return ("source",) * ("s_enc" in task.placement.name) + ("target",) * ("t_enc" in task.placement.name)


def naive_consistency(task, model, row: dict) -> float:
    """KL(p(·|x) ‖ p(·|y)), token by token: the source is the target with the tags of the target."""
    target, prefix = row["target"][0].tolist(), row["net_input"]["prev_output_tokens"]
    language = int(row["languages"][0, 1])
    p = say(model, row["net_input"]["src_tokens"][0].tolist(), prefix)
    q = say(model, [*head(task, language, language), *target], prefix)
    return sum(float((p[t].exp() * (p[t] - q[t])).sum()) for t in range(len(target)))


def naive_unlikelihood(task, model, row: dict) -> float:
    """−log(1 − p(y_t | x, wrong tag, y_<t)), token by token."""
    source, target = row["languages"][0].tolist()
    wrong = next(tag for tag in TAGS.values() if tag not in (source, target))
    sentence = row["net_input"]["src_tokens"][0].tolist()[len(criterion_sides(task)) :]
    prefix = row["net_input"]["prev_output_tokens"].clone()
    if task.placement.starts_decoder:
        prefix[0, 0] = wrong
    p = say(model, [*head(task, source, wrong), *sentence], prefix).exp()
    return -sum(math.log(1 - p[t, token]) for t, token in enumerate(row["target"][0].tolist()))


def naive_denoising(task, model, row: dict) -> float:
    """−log p(y_t | noise(y), y_<t), where y is in the pivot language."""
    pivot = TAGS["piv"]
    if row["languages"][0, 1] != pivot:
        return 0.0
    target = row["target"][0].tolist()
    noisy = [DICTIONARY.unk() if t % 2 else word for t, word in enumerate(target[:-1])] + target[-1:]
    p = say(model, [*head(task, pivot, pivot), *noisy], row["net_input"]["prev_output_tokens"])
    return -sum(float(p[t, token]) for t, token in enumerate(target))


def naive_agreement(task, model, row: dict) -> float:
    """KL(p ‖ q) + KL(q ‖ p) of what is said from the source and from the target, after a mixed prefix."""
    source, target = row["net_input"]["src_tokens"][0].tolist(), row["target"][0].tolist()
    words, language = source[len(criterion_sides(task)) : -1], int(row["languages"][0, 1])
    prefix = row["net_input"]["prev_output_tokens"].clone()
    for t in range(1, len(target), 2):
        if t <= len(words):
            prefix[0, t] = words[t - 1]
    p, q = say(model, source, prefix), say(model, [*head(task, language, language), *target], prefix)
    return float((p.exp() * (p - q) + q.exp() * (q - p)).sum())


def naive_word_distillation(task, model, row: dict) -> float:
    """KL(q(·|e, y_<t) ‖ p(·|x, y_<t)), where the teacher q reads the pivot's sentence e."""
    if "pivot" not in row:
        return 0.0
    prefix = row["net_input"]["prev_output_tokens"]
    p = say(model, row["net_input"]["src_tokens"][0].tolist(), prefix)
    q = say(teacher_of(task), row["pivot"]["src_tokens"][0].tolist(), prefix)
    return sum(float((q[t].exp() * (q[t] - p[t])).sum()) for t in range(prefix.size(1)))


NAIVE = {
    "word_distillation": naive_word_distillation,
    "agreement": naive_agreement,
    "consistency": naive_consistency,
    "unlikelihood": naive_unlikelihood,
    "denoising": naive_denoising,
}


@pytest.mark.slow
@EACH
@CHUNKED
def test_a_term_is_its_formula_whatever_padding_and_companions(task, term, chunked):
    """In the reference code of optimal transport a sentence with padding counts for nothing."""
    model, sample = model_of(task), batch(task)
    found = value(term, task, model, sample, chunked_loss=chunked)
    assert sample["net_input"]["src_tokens"].eq(PAD).any() and sample["target"].eq(PAD).any()
    with torch.no_grad():
        expected = [NAIVE[term](task, model, row) for row in rows_of(sample)]
    assert found == pytest.approx(sum(expected), rel=1e-9) and found > 0
    alone = [value(term, task, model, row, chunked_loss=chunked) for row in rows_of(sample)]
    assert alone == pytest.approx(expected, rel=1e-9)


# What holds for all


@CHUNKED
def test_without_weight_the_criterion_is_the_stock_one_bit_for_bit(task, chunked, monkeypatch):
    from zsnmt.criterions.chunked_label_smoothed_cross_entropy import ChunkedLabelSmoothedCrossEntropy

    stock = ChunkedLabelSmoothedCrossEntropy if chunked else ChunkedLabelSmoothedCrossEntropy.__base__
    model, sample = model_of(task, dropout=0.3).float(), batch(task)
    calls, forward = [], type(model).forward
    monkeypatch.setattr(
        type(model),
        "forward",
        lambda self, *given, **named: calls.append(named) or forward(self, *given, **named),
    )
    results = []
    for each in (criterion(task, chunked_loss=chunked), stock(task, False, 0.1)):
        torch.manual_seed(5)
        loss, size, log = each(model, sample)
        results.append((loss.detach(), size, log, gradients(loss, model), torch.rand(1)))
    (ours, size, log, found, drawn), (expected, stock_size, stock_log, by_stock, stock_drawn) = results
    assert torch.equal(ours, expected) and size == stock_size and log == stock_log
    assert [*found] == [*by_stock] and all(torch.equal(found[name], by_stock[name]) for name in found)
    assert torch.equal(drawn, stock_drawn), "no random number is drawn"
    assert len(calls) == 2 and calls[0]["src_tokens"] is sample["net_input"]["src_tokens"]


@EACH
def test_the_loss_is_a_weighted_sum_of_translation_and_term(term):
    task = TermTask()
    model, sample = model_of(task), batch(task)
    stock, size, _ = criterion(task)(model, sample)
    total, ours, log = criterion(task, **{f"{term}_weight": 0.25}, translation_weight=0.5)(model, sample)
    expected = 0.5 * float(stock) + 0.25 * float(log[f"{term}_loss"])
    assert float(total) == pytest.approx(expected, rel=1e-12) and ours == size
    assert float(log["loss"]) == pytest.approx(float(stock), rel=1e-12)


@EACH
def test_a_term_grows_with_the_tokens_as_the_translation_loss_does(term):
    """In the reference code of contrastive terms a sum over sentences stands beside one over tokens."""
    own = criterion(TermTask(), **{f"{term}_weight": 1.0}).terms[term]
    target = torch.tensor([[8, 9, 10], [11, 12, PAD], [9, 8, 12], [10, 11, PAD]])  # as long, in halves
    logits = torch.randn(
        2, *target.shape, len(DICTIONARY), dtype=torch.float64
    )  # of the batch and of the term's own rows

    def loss(times: int) -> float:
        """For every sentence said so many times over."""
        words = target.repeat(1, times)
        read = (Predictions(each.repeat(1, times, 1), words, PAD) for each in logits)
        return float(own.loss(*read))

    assert loss(3) == pytest.approx(3 * loss(1), rel=1e-9) and loss(1) > 0


@EACH
def test_chunked_and_whole_have_the_same_loss_figures_and_gradients(term):
    task = TermTask("s_enc_t_dec")
    model, sample = model_of(task), batch(task)
    results = []
    for chunked in (False, True):
        torch.manual_seed(1)
        options = {f"{term}_weight": 0.3, "report_accuracy": True, "chunked_loss": chunked}
        loss, _, log = criterion(task, **options)(model, sample)
        results.append((log, gradients(loss, model)))
    (log, whole), (other, chunked) = results
    assert log.keys() == other.keys()
    for name in log:  # chunked sums of the stock loss are in float32
        assert float(log[name]) == pytest.approx(float(other[name]), rel=1e-6), name
    largest = max(float(each.abs().max()) for each in whole.values())
    for name, gradient in whole.items():
        assert (gradient - chunked[name]).abs().max() < 1e-6 * largest, name


@EACH
def test_validation_has_the_stock_loss_alone(term):
    task = TermTask()
    model, sample = model_of(task).eval(), batch(task)
    loss, _, log = criterion(task, **{f"{term}_weight": 1.0})(model, sample)
    stock, _, stock_log = criterion(task)(model, sample)
    assert torch.equal(loss, stock) and log.keys() == stock_log.keys()


def test_terms_add_up_and_are_logged_in_bits_per_target_token():
    task = TermTask()
    model, sample = model_of(task), batch(task)
    weights = dict(zip((f"{term}_weight" for term in TERMS), (0.25, 1.0, 0.5, 0.1, 2.0)))
    each = {term: value(term, task, model, sample) for term in TERMS}
    total, _, log = criterion(task, **weights)(model, sample)
    expected = float(log["loss"]) + sum(weights[f"{term}_weight"] * each[term] for term in TERMS)
    assert float(total) == pytest.approx(expected, rel=1e-9)
    with metrics.aggregate() as logged:
        criterion(task).reduce_metrics([log, log])
    for term in TERMS:
        bits = each[term] / sample["ntokens"] / math.log(2)
        assert logged[f"{term}_loss"].avg == pytest.approx(bits, rel=1e-6)


def test_log_probabilities_of_a_model_in_half_precision_are_in_single():
    states = torch.randn(2, 3, 7, dtype=torch.bfloat16)
    target = torch.tensor([[4, 5, PAD], [6, PAD, PAD]])
    seen = []
    for project in (None, torch.nn.Identity()):
        Predictions(states, target, PAD, project=project).sum_on_target(
            lambda read: seen.append(read) or read.sum()
        )
    expected = [states[b, t].float().log_softmax(-1)[target[b, t]] for b, t in ((0, 0), (0, 1), (1, 0))]
    for read in seen:
        assert read.dtype is torch.float32
        assert_alike(read.double(), torch.stack(expected).double())
    assert len(seen) == 2


def test_what_two_read_is_projected_once_and_neither_sees_what_the_other_writes():
    states, target = torch.randn(2, 3, 7), torch.tensor([[4, 5, 6], [6, PAD, PAD]])
    calls = []

    def project(states: torch.Tensor) -> torch.Tensor:
        calls.append(len(states))
        return states.clone()

    said = Predictions(states, target, PAD, project=project)
    first, second = said.logits(again=True), said.logits()
    expected = states[target.ne(PAD)]
    first.zero_()
    assert torch.equal(second, expected) and calls == [4]
    second.zero_()
    assert torch.equal(said.logits(), expected) and calls == [4, 4]


@EACH
def test_in_chunks_each_row_is_projected_once(term, monkeypatch):
    task = TermTask()
    model, sample = model_of(task), batch(task)
    projected = []
    output_layer = model.decoder.output_layer
    monkeypatch.setattr(
        model.decoder, "output_layer", lambda states: projected.append(len(states)) or output_layer(states)
    )
    loss, _, _ = criterion(task, **{f"{term}_weight": 1.0}, chunked_loss=True)(model, sample)
    of_term = criterion(task, **{f"{term}_weight": 1.0}).terms[term]
    own = 0 if of_term.reader else int(of_term.rows(sample).target.ne(PAD).sum())
    loss.backward()
    assert sum(projected) == sample["ntokens"] + own


def test_halves_are_those_of_the_rows():
    states, target = torch.randn(4, 3, 7), torch.tensor([[4, 5, 6], [6, PAD, PAD], [5, 5, PAD], [4, 6, 4]])
    whole, halves = Predictions(states, target, PAD), Predictions(states, target, PAD).halves()
    assert [half.target.tolist() for half in halves] == [[4, 5, 6, 6], [5, 5, 4, 6, 4]]
    sums = [float(each.sum_on_target(torch.sum)) for each in (whole, *halves)]
    assert sums[0] == pytest.approx(sums[1] + sums[2])


# What each is for


def test_of_a_sentence_that_is_its_own_translation_copy_and_translation_agree():
    """With the tag in the decoder alone, both passes read the same."""
    task = TermTask()
    model, sample = model_of(task), batch(task, ["aa-piv", "piv-aa"], (4, 4), (4, 4))
    sample["net_input"]["src_tokens"] = sample["target"]
    assert value("consistency", task, model, sample) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("stopped", ["translation", "copy"])
def test_a_stopped_gradient_leaves_the_loss_and_changes_the_gradient(stopped):
    task = TermTask("t_enc")
    model, sample = model_of(task), batch(task)
    free, still = (
        criterion(task, consistency_weight=1.0, consistency_stop_gradient=each)(model, sample)[0]
        for each in ("none", stopped)
    )
    assert float(free) == pytest.approx(float(still), rel=1e-12)
    found, expected = gradients(still, model), gradients(free, model)
    assert any((found[name] - expected[name]).abs().max() > 1e-6 for name in expected)


def test_a_wrong_language_is_neither_source_nor_target_and_may_be_any_other(monkeypatch):
    monkeypatch.undo()  # languages are drawn here
    task = TermTask()
    term = criterion(task, unlikelihood_weight=1.0).terms["unlikelihood"]
    names = task.langs
    pairs = [(a, b) for a in names for b in names if a != b]
    languages = torch.tensor([[TAGS[a], TAGS[b]] for a, b in pairs])
    torch.manual_seed(2)
    drawn = torch.stack([term.wrong_languages(languages) for _ in range(60)])  # 60×pairs
    for (a, b), found in zip(pairs, drawn.T.tolist()):
        assert {names[number] for number in found} == {*names} - {a, b}


def test_a_wrong_tag_changes_one_column_and_no_prefix(task):
    """The released code pairs prefixes of other sentences: none was its own."""
    sample = batch(task)
    rows = criterion(task, unlikelihood_weight=1.0).terms["unlikelihood"].rows(sample)
    prefix, given = rows.inputs["prev_output_tokens"], sample["net_input"]["prev_output_tokens"]
    assert torch.equal(prefix[:, 1:], given[:, 1:]) and torch.equal(rows.target, sample["target"])
    assert prefix[:, 0].ne(given[:, 0]).all() == task.placement.starts_decoder
    changed = rows.inputs["src_tokens"].ne(sample["net_input"]["src_tokens"]).sum(1)
    assert changed.tolist() == [int("t_enc" in task.placement.name)] * 4


def test_the_first_word_alone_is_the_first_part_of_the_sum():
    task = TermTask()
    model, sample = model_of(task), batch(task)
    first = {**sample, "target": sample["target"].clone()}
    first["target"][:, 1:] = PAD
    found = value("unlikelihood", task, model, sample, unlikelihood_form="first_word")
    assert found == pytest.approx(value("unlikelihood", task, model, first), rel=1e-12)
    assert 0 < found < value("unlikelihood", task, model, sample)


def test_what_the_other_language_uses_is_spared(tmp_path):
    task = TermTask(data=str(tmp_path))
    model, sample = model_of(task), batch(task)
    words = [symbol for symbol in DICTIONARY.symbols if symbol.startswith("w")]
    spare = dict(unlikelihood_shared_tokens="spare")
    write_piece_counts(tmp_path, {language: dict.fromkeys(words, 1) for language in task.langs})
    assert value("unlikelihood", task, model, sample, **spare) == 0
    write_piece_counts(tmp_path, {"piv": {"w7": 2}, "bb": {"w6": 1}})
    target = sample["target"].clone()
    wrong = [
        {"aa-piv": "bb", "piv-aa": "bb", "bb-piv": "aa", "piv-cc": "aa"}[each]
        for each in directions_of(sample)
    ]
    for row, language in zip(target, wrong):
        uses = {"bb": [DICTIONARY.index("w6")]}.get(language, [])
        row[torch.isin(row, torch.tensor([DICTIONARY.eos(), *uses]))] = PAD
    expected = value("unlikelihood", task, model, {**sample, "target": target})
    assert value("unlikelihood", task, model, sample, **spare) == pytest.approx(expected, rel=1e-12)
    assert expected < value("unlikelihood", task, model, sample)


def directions_of(sample: dict) -> list[str]:
    names = {tag: language for language, tag in TAGS.items()}
    return ["-".join(names[tag] for tag in row) for row in sample["languages"].tolist()]


@CHUNKED
def test_a_batch_without_the_pivot_as_target_has_nothing_to_restore(chunked):
    task = TermTask()
    model, sample = model_of(task), batch(task, ["piv-aa", "piv-bb"], (3, 5), (4, 2))
    assert value("denoising", task, model, sample, chunked_loss=chunked) == 0
    loss, _, _ = criterion(task, denoising_weight=1.0, chunked_loss=chunked)(model, sample)
    assert all(each.isfinite().all() for each in gradients(loss, model).values())


def test_a_mixed_prefix_has_words_of_both_sides_in_their_places(task, monkeypatch):
    """The published code mixes sources that are padded on the left with prefixes padded on the right."""
    term = criterion(task, agreement_weight=1.0).terms["agreement"]
    sample = batch(task)
    given = sample["net_input"]["prev_output_tokens"]
    for row, words, prefix in zip(rows_of(sample), term.mix(sample["net_input"]).tolist(), given.tolist()):
        source = row["net_input"]["src_tokens"][0].tolist()[len(criterion_sides(task)) : -1]
        for t, word in enumerate(words):
            from_source = t % 2 == 1 and t <= len(source) and prefix[t] != PAD
            assert word == (source[t - 1] if from_source else prefix[t])
    monkeypatch.undo()
    torch.manual_seed(4)
    shares = [term.draw_kept(torch.zeros(50, 40)).double().mean() for _ in range(200)]
    assert torch.stack(shares).mean() == pytest.approx(6 / 9, abs=0.04), "the mean of Beta(6, 3)"


@pytest.mark.parametrize("term", ["consistency", "denoising", "agreement"])
def test_sources_that_a_term_makes_have_no_more_tokens_than_the_model_reads(task, term):
    """Tags among them, and where denoising masks nothing."""
    task.args.max_source_positions = longest = 9
    sample = batch(task, targets=(12, 3, 11, 1), sources=(4, 2, 5, 3))
    rows = criterion(task, **{f"{term}_weight": 1.0}).terms[term].rows(sample)
    assert sample["target"].size(1) > longest == rows.inputs["src_tokens"].size(1)


@pytest.mark.parametrize("term", ["unlikelihood", "denoising", "word_distillation"])
def test_a_term_that_teaches_to_read_the_source_may_be_all_there_is(term):
    task = TermTask()
    model, sample = model_of(task), batch(task)
    total, _, log = criterion(task, translation_weight=0.0, **{f"{term}_weight": 2.0})(model, sample)
    assert float(total.detach()) == pytest.approx(2 * float(log[f"{term}_loss"]), rel=1e-12)


# What makes no sense


@pytest.mark.parametrize(
    "options, message",
    [
        (
            dict(consistency_weight=-1.0),
            "--consistency-weight -1 is not a weight; .* would teach the opposite",
        ),
        *(
            (
                {f"{term}_weight": value},
                f"--{term.replace('_', '-')}-weight {value:g} is not a weight; give a number, 0 or more",
            )
            for term in TERMS
            for value in (math.nan, math.inf, -math.inf)
        ),
        (dict(consistency_stop_gradient="copy"), "--consistency-stop-gradient copy has no effect without"),
        (
            dict(unlikelihood_form="first_word"),
            "--unlikelihood-form first_word has no effect without --unlikelihood-weight",
        ),
        (
            dict(denoising_weight=1.0, denoising_share=1.0),
            "--denoising-share, --denoising-span: the share of",
        ),
        (dict(translation_weight=0.0), "--translation-weight 0 must be .*, and goes only with other terms"),
        (dict(translation_weight=0.0, consistency_weight=1.0), "ignores its source, and it would learn that"),
        *(
            (
                dict(translation_weight=value, denoising_weight=1.0),
                f"-weight {value:g} must be a number, 0 or",
            )
            for value in (-1.0, math.nan, math.inf)
        ),
        (
            dict(consistency_weight=1.0, ignore_prefix_size=1),
            "--ignore-prefix-size is for targets that begin",
        ),
        (dict(unlikelihood_weight=1.0, unlikelihood_shared_tokens="spare"), "piece_counts.tsv is missing"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message, tmp_path):
    with pytest.raises(InputError, match=message):
        criterion(TermTask(data=str(tmp_path)), **options)


@EACH
@pytest.mark.parametrize(
    "of_task, message",
    [
        (dict(left_pad_target=True), "reads the decoder's first token: leave out --left-pad-target"),
        (dict(frozen_vocabulary="31"), "trains on older languages, too: .*without --frozen-vocabulary"),
        (dict(adaptive_softmax_cutoff="9"), "needs every symbol's probability: leave out"),
    ],
)
def test_tasks_with_which_terms_make_no_sense_are_refused(term, of_task, message):
    with pytest.raises(InputError, match=f"--{term.replace('_', '-')}-weight {message}"):
        criterion(TermTask(**of_task), **{f"{term}_weight": 1.0})


def test_a_task_without_tags_a_third_language_or_directions_into_the_pivot_is_refused(toy_task):
    with pytest.raises(InputError, match="--consistency-weight needs language tags: use --task zs_transl"):
        criterion(toy_task, consistency_weight=1.0)
    with pytest.raises(InputError, match="--unlikelihood-weight needs a third language, whose tag is wrong"):
        criterion(TermTask(langs=("piv", "aa")), unlikelihood_weight=1.0)
    task = TermTask()
    task.learned = TrainedDirections([each for each in PIVOTAL if not each.endswith("piv")])
    with pytest.raises(InputError, match="--denoising-weight needs directions into piv: train on some"):
        criterion(task, denoising_weight=1.0)
    (in_words := TermTask()).pipeline.units = Words()
    with pytest.raises(
        InputError, match="--denoising-weight masks by the symbol of unknown words, which text"
    ):
        criterion(in_words, denoising_weight=1.0)


def test_a_student_that_says_what_its_teacher_says_learns_nothing_more(task, monkeypatch):
    """The pivot's sentence is the source, and student and teacher have the same weights."""
    model, sample = model_of(task), batch(task, ["aa-piv", "piv-aa"], (4, 4), (4, 4), pivots=(4, 4))
    sample["pivot"]["src_tokens"] = sample["net_input"]["src_tokens"]
    monkeypatch.setattr(word_distillation, "load_teacher", lambda path, task: model_of(task).eval())
    assert value("word_distillation", task, model, sample) == pytest.approx(0, abs=1e-12)


@CHUNKED
def test_of_a_teacher_whose_vocabulary_grew_what_it_cannot_write_is_left_out(chunked, monkeypatch):
    """It has the probability 0 there, as one that is adapted with all else frozen has for older languages."""
    task, size = TermTask(), TAGS["cc"]  # into all languages but the last, it writes nothing above
    teacher = teacher_of(task, frozen_vocabulary=str(size))
    monkeypatch.setattr(word_distillation, "load_teacher", lambda path, task: teacher)
    directions = ["aa-piv", "piv-aa", "bb-piv", "piv-bb"]
    model, sample = model_of(task), batch(task, directions, pivots=(2, 2, 3, 5))
    total, _, log = criterion(task, word_distillation_weight=1.0, chunked_loss=chunked)(model, sample)
    given, read, counted = sample["net_input"], sample["pivot"], sample["target"].ne(PAD)
    prefixes = given["prev_output_tokens"]
    student = model(**given)[0].log_softmax(-1)[counted][:, :size]
    said = teacher(read["src_tokens"], read["src_lengths"], prefixes)[0].log_softmax(-1)[counted]
    assert said[:, size:].eq(-math.inf).all()
    expected = (said[:, :size].exp() * (said[:, :size] - student)).sum().detach()
    assert float(log["word_distillation_loss"]) == pytest.approx(float(expected), rel=1e-12)
    assert all(gradient.isfinite().all() for gradient in gradients(total, model).values())


class TeachersTask(TermTask):
    """As much of the task as a teacher is loaded for."""

    def state_dict(self) -> dict:
        return {"dictionary": "one", "languages": self.langs, "language_tags": self.placement.name}

    def build_model(self, options):
        return model_of(self)


def test_a_teacher_that_does_not_fit_is_refused_by_the_name_of_its_file(monkeypatch):
    task = TeachersTask()
    weights = model_of(task).state_dict()
    table = weights["encoder.embed_tokens.weight"]
    state = {"cfg": {"model": None}, "model": weights, "task_state": task.state_dict()}
    older = {"languages": task.langs, "language_tags": "t_dec"}  # which does not name the dictionary
    narrow = {
        name: weight[:-1] if weight.shape == table.shape else weight for name, weight in weights.items()
    }
    for changes, message in (
        (dict(task_state={}), "teacher.pt is no translation model of this project"),
        (dict(task_state=None), "teacher.pt is no translation model of this project"),
        (dict(task_state={**older, "dictionary": "other"}), "teacher.pt was trained with other dictionary"),
        (dict(task_state=older, model=narrow), "teacher.pt does not fit the dictionary of this training"),
        (
            dict(model=dict([*weights.items()][:-1])),
            "teacher.pt does not fit the dictionary of this training",
        ),
    ):
        changed = {name: value for name, value in {**state, **changes}.items() if value is not None}
        monkeypatch.setattr(word_distillation, "load_state", lambda path, overrides, found=changed: found)
        with pytest.raises(InputError, match=message):
            load_teacher(Path("teacher.pt"), task)
    monkeypatch.setattr(word_distillation, "load_state", lambda path, overrides: state)
    assert not load_teacher(Path("teacher.pt"), task).training


@CHUNKED
def test_a_batch_without_the_pivots_sentences_has_nothing_of_a_teacher(chunked):
    task = TermTask()
    model, sample = model_of(task), batch(task, pivots=(None,) * 4)
    assert "pivot" not in sample
    options = dict(word_distillation_weight=1.0, chunked_loss=chunked)
    total, _, log = criterion(task, **options)(model, sample)
    assert float(log["word_distillation_loss"]) == 0 and float(total) == float(log["loss"])


@CHUNKED
def test_of_all_pairs_the_teacher_reads_the_source_where_the_pivot_is_one_side(task, chunked):
    """And of others the pivot's sentence, if there is one: whatever stands beside them in the batch."""
    directions, pivots = ["aa-piv", "aa-bb", "piv-cc", "bb-cc"], (None, 3, None, None)
    model, sample = model_of(task), batch(task, directions, pivots=pivots)
    options = dict(word_distillation_weight=1.0, word_distillation_pairs="all", chunked_loss=chunked)
    total, _, log = criterion(task, **options)(model, sample)
    rows = rows_of(sample)
    for row in rows:
        if row["languages"].eq(TAGS["piv"]).any():
            row["pivot"] = {"src_tokens": row["net_input"]["src_tokens"]}
    assert [("pivot" in row) for row in rows].count(True) == 3
    with torch.no_grad():
        expected = sum(naive_word_distillation(task, model, row) for row in rows)
    assert float(log["word_distillation_loss"]) == pytest.approx(expected, rel=1e-10)
    assert float(total - log["loss"]) == pytest.approx(expected, rel=1e-10)


def test_a_teacher_is_not_trained():
    task = TermTask()
    model, sample = model_of(task), batch(task)
    own = criterion(task, word_distillation_weight=1.0)
    before = {
        name: weight.clone() for name, weight in own.terms["word_distillation"].reader.named_parameters()
    }
    loss, _, _ = own(model, sample)
    loss.backward()
    assert not [*own.parameters()], "an optimiser would be given them"
    for name, weight in own.terms["word_distillation"].reader.named_parameters():
        assert weight.grad is None and torch.equal(weight, before[name])


def test_what_is_said_of_some_rows_is_projected_no_more():
    states, target = torch.randn(3, 3, 7), torch.tensor([[4, 5, 6], [6, PAD, PAD], [5, 5, PAD]])
    calls, chosen = [], torch.tensor([True, False, True])

    def project(states: torch.Tensor) -> torch.Tensor:
        calls.append(len(states))
        return 2 * states

    said = Predictions(states, target, PAD, project=project)
    expected = 2 * states[chosen][target[chosen].ne(PAD)]
    assert torch.equal(said.of_rows(chosen).logits(), expected) and calls == [5]
    said.logits(again=True)
    assert torch.equal(said.of_rows(chosen).logits(), expected) and calls == [5, 6]
    assert said.of_rows(None) is said


def test_a_teacher_without_a_checkpoint_or_sentences_to_read_is_refused(tmp_path, monkeypatch):
    weight = dict(label_smoothing=0.1, sentence_avg=False, word_distillation_weight=1.0)
    with pytest.raises(InputError, match="-weight needs a teacher: give its checkpoint by --word-distillati"):
        ZeroShotCrossEntropy(ZeroShotCrossEntropyConfig(**weight), TermTask())
    monkeypatch.undo()  # data are looked at here
    main, extra = tmp_path / "main", tmp_path / "extra"
    for folder, names in ((main, ["aa-piv.aa", "aa-piv.piv"]), (extra, ["aa-bb.aa", "aa-bb.bb"])):
        folder.mkdir()
        for name in names:
            (folder / f"train.{name}.idx").touch()
    task = TermTask(data=str(main), extra_data={"targets": str(extra)})
    with pytest.raises(
        InputError, match="needs sentences of piv beside pairs of other languages, and the da"
    ):
        criterion(task, word_distillation_weight=1.0)
    (extra / "train.aa-bb.piv.idx").touch()
    assert word_distillation.has_pivot_sides(task)
