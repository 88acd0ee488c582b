"""The masked language model: fairseq's own with learned positions, and what each other encoding changes."""

import itertools
import math
from argparse import Namespace

import pytest
import torch
from fairseq.data import Dictionary
from fairseq.models.roberta import RobertaModel
from torch import Tensor, nn
from torch.nn import functional as F

from tests.conftest import make_dictionary
from tests.support.rounding import alike, assert_alike
from zsnmt.data.masked_sentences import MASK
from zsnmt.errors import InputError
from zsnmt.models import zs_bert as registered
from zsnmt.models.zs_bert import ZeroShotBert
from zsnmt.modules.position_names import ENCODINGS, INPUT_ENCODINGS, RELATIVE_KEYS, TUPE
from zsnmt.modules.position_terms import ALL, DROPPED_TERMS, SEPARATE
from zsnmt.modules.positions import relative_buckets

LAYERS, C, H, FF, P = 3, 8, 2, 20, 16
D = C // H
B, T, PAD, EOS = 3, 6, 1, 2
TERMS = [*DROPPED_TERMS, SEPARATE]
SYSTEMS = [
    *(dict(position_encoding=encoding) for encoding in ENCODINGS),
    *(dict(position_terms=terms) for terms in TERMS),
    dict(position_encoding="relative_key_query", relative_key_query_product=True),
    dict(position_encoding="relative_key", relative_key_distance=2),
    dict(position_encoding="relative_key_query", relative_key_distance=0),
]

pytestmark = pytest.mark.usefixtures("float64")


class MaskedTask:
    """As much of a task as the model reads."""

    def __init__(self, words: int = 23) -> None:
        self.source_dictionary: Dictionary = make_dictionary(words)
        self.source_dictionary.add_symbol(MASK)


def small(**options) -> Namespace:
    sizes = dict(
        encoder_layers=LAYERS,
        encoder_embed_dim=C,
        encoder_ffn_embed_dim=FF,
        encoder_attention_heads=H,
        max_positions=P,
    )
    return Namespace(**{**sizes, **options})


def build(seed: int = 7, **options) -> ZeroShotBert:
    torch.manual_seed(seed)
    return ZeroShotBert.build_model(small(**options), MaskedTask())


def stirred(seed: int = 7, **options) -> ZeroShotBert:
    """For evaluation, in float64, with parameters so large that all of them show."""
    model = build(seed, **options).double().eval()
    for name, parameter in model.named_parameters():
        nn.init.normal_(parameter, mean=float("norm.weight" in name), std=0.5)
    return model


def stock(seed: int = 7) -> RobertaModel:
    """fairseq's own model with the same options."""
    args = small()
    registered.zs_bert(args)
    torch.manual_seed(seed)
    return RobertaModel.build_model(args, MaskedTask())


@pytest.fixture
def tokens() -> Tensor:
    """Lines of 6, 4 and 5 tokens, B×T, padded on the right."""
    return torch.tensor([[0, 8, 9, 10, 11, EOS], [0, 12, 13, EOS, PAD, PAD], [0, 14, 8, 9, EOS, PAD]])


@pytest.fixture
def chosen(tokens) -> Tensor:
    """Tokens to predict, B×T."""
    return tokens.eq(9) | tokens.eq(12)


# fairseq's model


def test_with_learned_positions_it_is_fairseqs_model_bit_for_bit(tokens, chosen):
    """Names, initial weights, and, with dropout, logits, gradients and weights after an update."""
    found = []
    for model in (stock(), build(position_encoding="learned")):
        seen = [{name: weight.clone() for name, weight in model.state_dict().items()}]
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        torch.manual_seed(3)
        logits, _ = model.train()(tokens, masked_tokens=chosen)
        F.cross_entropy(logits, tokens[chosen]).backward()
        seen += [{"logits": logits}, {name: weight.grad for name, weight in model.named_parameters()}]
        optimizer.step()
        found.append([*seen, model.state_dict(), {"all": model.eval()(tokens)[0]}])
    for one, other in zip(*found, strict=True):
        assert one.keys() == other.keys()
        assert [name for name in one if not torch.equal(one[name], other[name])] == []


def number_of_parameters(
    V: int, encoding: str, layers: int = 12, d: int = 64, ff: int = 256, heads: int = 1, positions: int = 512
) -> int:
    """By the papers' descriptions; fairseq's learned positions count from the padding's index + 1."""
    norm, square = 2 * d, d * d + d
    layer = 4 * square + 2 * norm + (d * ff + ff) + (ff * d + d)
    relative = layers * (2 * positions - 1) * d // heads
    tupe = (positions + 1) * d + norm + 2 * square
    added = {
        "learned": (positions + 2) * d,
        "tupe_absolute": tupe,
        "tupe_relative": tupe + 33 * heads,
        "relative_key": relative,
        "relative_key_query": relative,
    }
    return V * d + norm + layers * layer + (square + norm + V) + added.get(encoding, 0)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_studys_model_has_as_many_parameters_as_the_papers_say(encoding):
    task = MaskedTask()
    for number in range(4096 - len(task.source_dictionary)):
        task.source_dictionary.add_symbol(f"more{number}")
    model = ZeroShotBert.build_model(Namespace(position_encoding=encoding), task)
    assert sum(parameter.numel() for parameter in model.parameters()) == number_of_parameters(4096, encoding)
    assert encoding != "learned" or number_of_parameters(4096, encoding) == 903_360
    dropped = {module.p for module in model.modules() if type(module).__name__ == "FairseqDropout"}
    assert dropped == {0.1, 0.0} and model.args.activation_fn == "gelu"  # nothing after the activation


def test_the_base_architecture_is_berts():
    args = Namespace()
    registered.zs_bert_base(args)
    sizes = (
        args.encoder_layers,
        args.encoder_embed_dim,
        args.encoder_ffn_embed_dim,
        args.encoder_attention_heads,
    )
    assert sizes == (12, 768, 3072, 12) and args.position_encoding == "learned" and args.max_positions == 512


# Initial weights


@pytest.mark.parametrize("options", SYSTEMS, ids=str)
def test_initial_weights_do_not_depend_on_the_seams(options):
    encoding = options.get("position_encoding", "learned")
    plain = dict(build(position_encoding="learned" if encoding == "learned" else "none").named_parameters())
    filled = dict(build(**options).named_parameters())
    assert [name for name in plain if not torch.equal(plain[name], filled[name])] == []
    new = {
        name.removeprefix("encoder.sentence_encoder.").split(".")[0] for name in filled if name not in plain
    }
    seams = {**dict.fromkeys(TUPE, {"position_bias"}), **dict.fromkeys(RELATIVE_KEYS, {"layers"})}
    assert new == (
        {"position_terms"} if options.get("position_terms") == SEPARATE else seams.get(encoding, set())
    )


@pytest.mark.parametrize(
    "options",
    [dict(position_encoding=encoding) for encoding in (*TUPE, *RELATIVE_KEYS)]
    + [dict(position_terms=SEPARATE)],
    ids=str,
)
def test_what_a_seam_brings_begins_as_berts_weights(options):
    plain = dict(build(position_encoding="none").named_parameters())
    sizes = dict(encoder_embed_dim=64, encoder_attention_heads=4, max_positions=200)
    new = {
        name: weight
        for name, weight in build(**sizes, **options).named_parameters()
        if name not in plain and "embed_positions" not in name
    }
    assert new
    for name, weight in new.items():
        if "layer_norm" in name or name.endswith("bias"):
            assert torch.equal(weight, torch.full_like(weight, float("norm.weight" in name)))
        else:
            assert weight.std().item() == pytest.approx(0.02, rel=0.2 if "buckets" in name else 0.05)
            assert abs(weight.mean().item()) < 4 * 0.02 / math.sqrt(weight.numel())


def test_the_seams_begin_otherwise_with_another_seed():
    names = (
        "encoder.sentence_encoder.position_bias.table.weight",
        "encoder.sentence_encoder.position_bias.q_proj.weight",
    )
    models = [build(seed, position_encoding="tupe_absolute").state_dict() for seed in (7, 7, 8)]
    for name in names:
        assert torch.equal(models[0][name], models[1][name]) and not torch.equal(
            models[0][name], models[2][name]
        )


# What all encodings have in common


@pytest.mark.parametrize("options", SYSTEMS, ids=str)
def test_it_depends_on_neither_padding_nor_companions(tokens, options):
    model = stirred(**options)
    together, order = model(tokens)[0], [2, 0, 1]
    assert_alike(model(tokens[1:2, :4])[0], together[1:2, :4])
    assert_alike(model(F.pad(tokens, (0, 3), value=PAD))[0][:, :T][tokens.ne(PAD)], together[tokens.ne(PAD)])
    assert_alike(model(tokens[order])[0], together[order])


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_only_without_positions_it_sees_a_bag_of_words(tokens, encoding):
    model = stirred(position_encoding=encoding)
    for order in ([3, 0, 4, 1, 5, 2], [0, 2, 1, 3, 4, 5]):
        logits, moved = model(tokens[:1])[0], model(tokens[:1, order])[0]
        assert alike(logits[:, order], moved) == (encoding == "none")


@pytest.mark.parametrize("options", SYSTEMS, ids=str)
def test_all_parameters_are_trained_also_in_mixed_precision(tokens, chosen, options):
    for mixed in (False, True):
        model = build(**options).train()
        torch.manual_seed(3)
        with torch.autocast("cpu", torch.bfloat16, enabled=mixed):
            logits, _ = model(tokens, masked_tokens=chosen)
            loss = F.cross_entropy(logits.float(), tokens[chosen])
        loss.backward()
        gradients = {name: parameter.grad for name, parameter in model.named_parameters()}
        assert all(gradient is not None and gradient.isfinite().all() for gradient in gradients.values())
        without = [
            name
            for name, gradient in gradients.items()
            if not gradient.any() and not name.endswith("k_proj.bias")
        ]
        assert without == []  # the softmax cancels that bias


@pytest.mark.parametrize("options", SYSTEMS, ids=str)
def test_a_saved_model_is_the_same_when_loaded(tokens, options):
    saved, other = stirred(**options).float(), build(seed=8, **options).eval()
    other.load_state_dict(saved.state_dict(), strict=True)
    assert torch.equal(saved(tokens)[0], other(tokens)[0])


# The papers' formulas


def attentions(model: ZeroShotBert, tokens: Tensor) -> list[tuple[nn.Module, Tensor, Tensor]]:
    """Of each layer the self-attention, its input and its output, T×B×C."""
    found = []
    hooks = [
        layer.self_attn.register_forward_hook(
            lambda attention, _, given, result: found.append((attention, given["query"], result[0])),
            with_kwargs=True,
        )
        for layer in model.encoder.sentence_encoder.layers
    ]
    model(tokens)
    for hook in hooks:
        hook.remove()
    return found


def heads(projected: Tensor) -> Tensor:
    """B×T×C as B×H×T×d."""
    return torch.stack([projected[..., head * D : (head + 1) * D] for head in range(H)], dim=1)


def naive(attention: nn.Module, x: Tensor, tokens: Tensor, logits: Tensor) -> Tensor:
    """The attention's output, T×B×C, for logits B×H×T×T."""
    probabilities = logits.masked_fill(tokens.eq(PAD)[:, None, None], -math.inf).softmax(dim=-1)
    values = probabilities @ heads(attention.v_proj(x.transpose(0, 1)))
    return attention.out_proj(torch.cat([*values.unbind(dim=1)], dim=-1)).transpose(0, 1)


def queries_and_keys(attention: nn.Module, x: Tensor) -> tuple[Tensor, Tensor]:
    """From T×B×C to B×H×T×d each."""
    return heads(attention.q_proj(x.transpose(0, 1))), heads(attention.k_proj(x.transpose(0, 1)))


def tupe_bias(encoder: nn.Module) -> Tensor:
    """By loops, 1×H×T×T (Ke et al. 2021, equations 7 to 10; the reset of [CLS], and T5's buckets)."""
    bias = encoder.position_bias
    p = bias.layer_norm(bias.table.weight)
    q, k = heads(bias.q_proj(p)[None])[0], heads(bias.k_proj(p)[None])[0]  # H×(P+1)×d
    buckets, found = relative_buckets(T), torch.zeros(1, H, T, T, dtype=torch.float64)
    for head, i, j in itertools.product(range(H), range(T), range(T)):
        row = (0, 0) if i == 0 else (1, 1) if j == 0 else (i + 1, j + 1)
        found[0, head, i, j] = q[head, row[0]] @ k[head, row[1]] / math.sqrt(2 * D)
        if bias.buckets is not None:
            found[0, head, i, j] += bias.buckets.weight[
                16 if i == 0 else 32 if j == 0 else buckets[i, j], head
            ]
    return found


def offset_terms(attention: nn.Module, q: Tensor, k: Tensor, options: dict) -> Tensor:
    """By loops, B×H×T×T: q·a, and k·a and a·a where there are such terms."""
    table, found = attention.logit_terms[0].table.weight, torch.zeros(B, H, T, T, dtype=torch.float64)
    k_max = options.get("relative_key_distance", P - 1)
    for i, j in itertools.product(range(T), range(T)):
        a = table[max(-k_max, min(j - i, k_max)) + k_max]
        found[..., i, j] = q[:, :, i] @ a
        if options["position_encoding"] == "relative_key_query":
            found[..., i, j] += k[:, :, j] @ a + (a @ a if options.get("relative_key_query_product") else 0)
    return found


@pytest.mark.parametrize(
    "options", [options for options in SYSTEMS if "position_terms" not in options], ids=str
)
@torch.no_grad()
def test_every_layer_attends_as_the_papers_write(tokens, options):
    """Table 1 of Ravishankar and Søgaard (2021)."""
    model, encoding = stirred(**options), options["position_encoding"]
    is_token = tokens.ne(PAD).t()
    for attention, x, result in attentions(model, tokens):
        q, k = queries_and_keys(attention, x)
        logits = q @ k.transpose(2, 3)
        if encoding in RELATIVE_KEYS:
            distance = options.get("relative_key_distance", P - 1)
            assert len(attention.logit_terms[0].table.weight) == 2 * distance + 1
            logits = logits + offset_terms(attention, q, k, options)
        if encoding in TUPE:
            logits = logits / math.sqrt(2 * D) + tupe_bias(model.encoder.sentence_encoder)
        else:
            logits = logits / math.sqrt(D)
        assert_alike(naive(attention, x, tokens, logits)[is_token], result[is_token])


@pytest.mark.parametrize("encoding", ENCODINGS)
@torch.no_grad()
def test_the_first_layer_reads_words_and_maybe_positions(tokens, encoding):
    """Sinusoidal ones beside words of twice the usual scale (Ravishankar and Søgaard 2021, section 3)."""
    encoder = stirred(position_encoding=encoding).encoder.sentence_encoder
    words = encoder.embed_tokens.weight[tokens]
    if encoding == "sinusoidal":
        words = words * 2 * math.sqrt(C)
    if encoding in INPUT_ENCODINGS:
        table = (
            encoder.embed_positions.weights[2:]
            if encoding == "sinusoidal"
            else encoder.embed_positions.weight[2:]
        )
        words = words + table[:T]
    expected = encoder.layernorm_embedding(words).masked_fill(tokens.eq(PAD)[..., None], 0)
    assert_alike(encoder(tokens, return_all_hiddens=True)["encoder_states"][0].transpose(0, 1), expected)
    assert (encoder.embed_positions is None) == (encoding not in INPUT_ENCODINGS)


@pytest.mark.parametrize("encoding", TUPE)
@torch.no_grad()
def test_tupes_first_token_is_apart_from_places(encoding):
    encoder = stirred(position_encoding=encoding).encoder.sentence_encoder
    bias = encoder.bias_of(torch.full((1, T), 8), None, torch.zeros(1, T, C), torch.zeros(1, T, C))
    for head in bias[0]:
        assert (
            head[0].unique().numel() == 1 and head[1:, 0].unique().numel() == 1 and head[0, 0] != head[1, 0]
        )
        assert head[1:, 1:].unique().numel() == (T - 1) ** 2
    scales = [layer.self_attn.scaling for layer in encoder.layers]
    assert scales == pytest.approx([1 / math.sqrt(2 * D)] * LAYERS)


# The terms of learned positions


@pytest.mark.parametrize("terms", DROPPED_TERMS)
@torch.no_grad()
def test_a_term_is_gone_from_the_first_layer_alone(tokens, terms):
    """(w_i + p_i)W^Q·((w_j + p_j)W^K)ᵀ without one of its four terms, w and p as normalisation leaves
    them.
    """
    model = stirred(position_terms=terms)
    encoder = model.encoder.sentence_encoder
    norm = encoder.layernorm_embedding
    w, p = encoder.embed_tokens.weight[tokens], encoder.embed_positions(tokens)
    deviation = ((w + p).var(dim=-1, correction=0, keepdim=True) + norm.eps).sqrt()
    w, p = ((part - part.mean(dim=-1, keepdim=True)) / deviation * norm.weight for part in (w, p))
    (attention, x, result), *later = attentions(model, tokens)
    assert_alike((w + norm.bias + p)[tokens.ne(PAD)], x.transpose(0, 1)[tokens.ne(PAD)])
    qw, kw = queries_and_keys(attention, (w + norm.bias).transpose(0, 1))
    qp, kp = (heads(F.linear(p, projection.weight)) for projection in (attention.q_proj, attention.k_proj))
    four = {
        "word_word": (qw, kw),
        "position_position": (qp, kp),
        "position_word": (qw, kp),
        "word_position": (qp, kw),
    }
    kept = sum(q @ k.transpose(2, 3) for name, (q, k) in four.items() if f"no_{name}" != terms)
    is_token = tokens.ne(PAD).t()
    assert_alike(naive(attention, x, tokens, kept / math.sqrt(D))[is_token], result[is_token])
    for attention, x, result in later:
        q, k = queries_and_keys(attention, x)
        assert_alike(naive(attention, x, tokens, q @ k.transpose(2, 3) / math.sqrt(D)), result)


@torch.no_grad()
def test_in_training_positions_share_the_dropout_of_the_input(tokens):
    """What is kept of them is enlarged as what is kept of the input."""
    encoder = stirred(position_terms="no_word_position", dropout=0.4).train().encoder.sentence_encoder
    norm, seen = encoder.layernorm_embedding, {}
    encoder.position_terms.register_forward_pre_hook(lambda module, given: seen.update(given=given))
    encoder.dropout_module.register_forward_hook(lambda module, given, made: seen.setdefault("x", made))
    encoder(tokens)
    words, positions = seen["given"][:2]
    w, p = encoder.embed_tokens.weight[tokens], encoder.embed_positions(tokens)
    deviation = ((w + p).var(dim=-1, correction=0, keepdim=True) + norm.eps).sqrt()
    whole = (p - p.mean(dim=-1, keepdim=True)) / deviation * norm.weight / (1 - 0.4)
    kept = seen["x"].ne(0) & tokens.ne(PAD).unsqueeze(-1)
    assert 0.3 < kept[tokens.ne(PAD)].double().mean() < 0.9
    assert_alike(positions, whole.where(kept, 0.0))
    assert_alike((words + positions)[tokens.ne(PAD)], seen["x"][tokens.ne(PAD)])


def test_separate_parameters_that_are_the_words_change_nothing(tokens):
    whole, separate = stirred(), stirred(position_terms=SEPARATE)
    separate.load_state_dict(whole.state_dict(), strict=False)
    assert not alike(separate(tokens)[0], whole(tokens)[0])
    encoder = separate.encoder.sentence_encoder
    attention = encoder.layers[0].self_attn
    for own, projection in zip(encoder.position_terms.own, (attention.q_proj, attention.k_proj), strict=True):
        own.weight.data.copy_(projection.weight)
    assert_alike(separate(tokens)[0], whole(tokens)[0])


@pytest.mark.parametrize("terms", TERMS)
def test_an_ablation_changes_the_logits(tokens, terms):
    whole, ablated = stirred(), stirred(position_terms=terms)
    ablated.load_state_dict(whole.state_dict(), strict=False)
    assert not alike(ablated(tokens)[0], whole(tokens)[0])


# Options


@pytest.mark.parametrize(
    "options, message",
    [
        *(
            (
                dict(position_encoding=encoding, position_terms=SEPARATE),
                "--position-terms separate_parameters has no effect without --position-encoding learned",
            )
            for encoding in ENCODINGS
            if encoding != "learned"
        ),
        (
            dict(position_terms="no_word_position", encoder_normalize_before=True),
            "does not go with --encoder-normalize-before; leave one",
        ),
        *(
            (
                dict(position_encoding=encoding, relative_key_query_product=True),
                "--relative-key-query-product has no effect without --position-encoding relative_key_query;",
            )
            for encoding in ENCODINGS
            if encoding != "relative_key_query"
        ),
        *(
            (
                dict(position_encoding=encoding, relative_key_distance=16),
                "--relative-key-distance 16 has no effect without --position-encoding relative_key or rel",
            )
            for encoding in ENCODINGS
            if encoding not in RELATIVE_KEYS
        ),
        (
            dict(position_encoding="relative_key", relative_key_distance=-1),
            "--relative-key-distance: clip distance is -1; it must be 0 or more",
        ),
        (dict(ddp_backend="fully_sharded"), "--ddp-backend fully_sharded hides the layers"),
        *(
            ({name: value}, f"--{name.replace('_', '-')} {value} must be at least 0 and below 1")
            for name in ("dropout", "attention_dropout", "activation_dropout", "pooler_dropout")
            for value in (-0.1, 1.0, math.nan)
        ),
        (dict(encoder_layers=0), "--encoder-layers 0 must be 1 or more"),
        (
            dict(encoder_attention_heads=3),
            "--encoder-embed-dim 8 must be a multiple of --encoder-attention-h",
        ),
    ],
)
def test_options_that_cannot_be_used_say_why(options, message):
    with pytest.raises(InputError, match=message):
        build(**options)


def test_all_terms_are_the_default():
    args = Namespace()
    registered.zs_bert(args)
    assert args.position_terms == ALL and args.relative_key_query_product is False
    assert args.relative_key_distance is None
    assert build().encoder.sentence_encoder.position_terms is None
