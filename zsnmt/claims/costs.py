"""How long trainings take on one core, before they begin: about, and at most.

An update takes a while whatever its size, and its products as long as their floating-point operations, six
for each weight and token, at the rate of a core. Both figures are of trainings of this project (d = 64 to
256), within a factor of two of them; what a config's trainings took in fact replaces the estimate (see
`plan`).
"""

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from zsnmt.claims.needs import TEXT_KEYS
from zsnmt.corpora.invented.options import parse_corpus, parse_inference, parse_treebanks
from zsnmt.masked_lm.config import StudyConfig, XnliConfig
from zsnmt.masked_lm.nli_study import model_words
from zsnmt.masked_lm.report.runs import NONE
from zsnmt.masked_lm.study import ARCHITECTURE, training_words
from zsnmt.masked_lm.study_data import TREES
from zsnmt.training.config import Config
from zsnmt.training.fairseq_options import training_options
from zsnmt.training.rule.schedule import FILLED

SECONDS_OF_UPDATE = 0.04
OPERATIONS = 150e9  # a second
BYTES_OF_PIECE = 4  # of text, about
BYTES_OF_LINE, BYTES_OF_TREE, PIECES_OF_LINE = 100, 1500, 25  # of a masked language model's text, about
PIECES_OF_CONCEPT = 2.5  # in invented languages
EPOCHS = 40  # where only patience ends a training


def missing_text(config: Config) -> Mapping[str, str]:
    """The keys that say where a config's text is, with the paths, where there is nothing."""
    given = {key: getattr(config, key.lower()) for key in TEXT_KEYS}
    return {key: path for key, path in given.items() if path and not Path(path).exists()}


def pieces_of_text(config: Config) -> float:
    """The pieces that an epoch has on the larger side, all directions together, about."""
    if config.synthetic:
        corpus = parse_corpus(config.synthetic)
        pairs = corpus.pairs * (len(config.languages) - 1)
        return 2 * pairs * PIECES_OF_CONCEPT * (corpus.shortest + corpus.longest) / 2
    paths = (Path(path) for key in TEXT_KEYS if (path := getattr(config, key.lower())))
    size = sum(
        file.stat().st_size
        for path in paths
        for file in ([path] if path.is_file() else path.rglob("*train*"))
        if file.is_file()
    )
    return size / BYTES_OF_PIECE


def updates(options: Namespace, pieces: float) -> float:
    """The updates of a training, at most."""
    of_epoch = pieces / (FILLED * options.max_tokens * options.update_freq[0]) if options.max_tokens else 1.0
    of_epochs = (options.max_epoch or EPOCHS) * max(1.0, of_epoch)
    return min(options.max_update or of_epochs, of_epochs)


def weights_of_layers(options: Namespace) -> float:
    """The weights of matrices in encoder and decoder, which every token passes."""
    total = 0.0
    for side, attentions in (("encoder", 1), ("decoder", 2)):
        layers, width, inner = (
            getattr(options, f"{side}_{name}", 0) for name in ("layers", "embed_dim", "ffn_embed_dim")
        )
        total += layers * (4 * attentions * width**2 + 2 * width * inner)
    return total


def training_hours(options: Namespace, *, vocabulary: int, pieces: float) -> float:
    """The hours of one core that a training with these options of fairseq-train takes, with a vocabulary, on
    a text of so many pieces.
    """
    weights = weights_of_layers(options) + vocabulary * options.decoder_embed_dim
    tokens = FILLED * (options.max_tokens or 0) * options.update_freq[0]
    return updates(options, pieces) * hours_of_update(weights, tokens)


def masked_lm_hours(config: StudyConfig, condition: str, system: str) -> float:
    """The same of a masked language model, of two languages whose vocabularies have nothing in common, or of
    one.
    """
    options = training_options(ARCHITECTURE, training_words(config, system))
    batch = config.batch if config.epochs else (options.batch_size or 1) * options.update_freq[0]
    languages = 1 if condition == NONE else 2
    of_epoch = max(1.0, languages * lines_of_text(config) / batch)
    number = options.max_update or (config.epochs or options.max_epoch or EPOCHS) * of_epoch
    weights = weights_of_layers(options) + languages * config.vocabulary * options.encoder_embed_dim
    return number * hours_of_update(weights, batch * PIECES_OF_LINE)


def inference_hours(config: XnliConfig, system: str) -> float:
    """The same of a model that is pre-trained and fine-tuned on made-up languages, whose premises and
    hypotheses are as long as their sentences.
    """
    made = parse_inference(config.synthetic)
    options = training_options(ARCHITECTURE, model_words(config, system))
    weights = weights_of_layers(options) + config.vocabulary * options.encoder_embed_dim
    lines = len(config.languages) * made.sentences
    stages = (
        (lines, config.pretraining_epochs, config.pretraining_batch, 1),
        (made.corpus.pairs, config.finetuning_epochs, config.finetuning_batch, 2),
    )
    return sum(
        number * epochs / batch * hours_of_update(weights, batch * sentences * PIECES_OF_LINE)
        for number, epochs, batch, sentences in stages
    )


def lines_of_text(config: StudyConfig) -> float:
    """The training lines of a language, about."""
    if config.synthetic:
        _, sentences = parse_treebanks(config.synthetic)
        return sentences
    size_of_line = BYTES_OF_TREE if config.train.endswith(TREES) else BYTES_OF_LINE
    return config.train_lines or Path(config.train).stat().st_size / size_of_line


def hours_of_update(weights: float, tokens: float) -> float:
    """The hours of one core that an update takes, of a model with so many weights in its products."""
    return (SECONDS_OF_UPDATE + 6 * weights * tokens / OPERATIONS) / 3600
