"""Whether figures of a config may stand beside published ones, and why not (docs/measures.md, "Published
values").
"""

from collections.abc import Iterable
from typing import NamedTuple

from zsnmt.report.table import join_sentences

WITH_CARE, NO = "with care", "not comparable"


class Verdict(NamedTuple):
    """How the figures of a config compare with those that are published of its data, and the reason."""

    word: str
    reason: str


OTHER_LINES = (
    "the same test set and kind of BLEU, but other training pairs (those that overlap with held-out text are "
    "out), a newer sacreBLEU and a text pipeline that differs in details (docs/method.md)"
)
OTHER_TEST_SET = (
    "other test sentences, drawn from the release; differences between systems, and to the baseline's pivot, "
    "compare"
)
OF_LI = (
    "the paper does not say its BLEU's tool, case, tokenisation and test year; other tokens and vocabulary"
)
NOT_PUBLISHED = Verdict(NO, "nothing is published of this text; its languages, size and test set are others")
VERDICTS = {
    **dict.fromkeys(
        ("iwslt17", "iwslt17_add_de", "iwslt17_little_data", "iwslt17_little_data_marked"),
        Verdict(WITH_CARE, OTHER_LINES),
    ),
    **dict.fromkeys(
        ("iwslt17_diverse", "iwslt17_marked"),
        Verdict(NO, "the paper has IWSLT multiway, and language marks on 30,000 pairs alone"),
    ),
    "pmindia_devanagari": Verdict(
        NO, "the paper says that zero-shot translation is worse, and gives no figure"
    ),
    **dict.fromkeys(("europarl_multiway", "europarl_non_overlap"), Verdict(NO, OTHER_TEST_SET)),
    "europarl_full": Verdict(
        NO,
        "the paper's training set was not clean, as its repository says, and its checkpoints were chosen on "
        "zero-shot directions too; other test sentences",
    ),
    "pmindia": Verdict(
        NO,
        "other test sentences, normalised references and another tokenisation of BLEU (tok:flores101 for an "
        "early spm)",
    ),
    "iwslt17_en_it_relative": Verdict(NO, OF_LI),
    "multi30k_en_de_relative": Verdict(
        NO, "captions, another language pair, smaller models; besides, " + OF_LI
    ),
    "bert_bible_cpu": Verdict(
        NO, "one word order in place of seven, short verses of another Bible, 15 epochs in place of a hundred"
    ),
    "bert_treebank_cpu": Verdict(
        NO, "treebank sentences and one word order; a few epochs in place of a hundred"
    ),
    "bert_fake_english": Verdict(NO, "EN+[EN] alone, where the paper has the mean over seven word orders"),
    "bert_fake_english_orders": Verdict(
        WITH_CARE, "other English Bibles may stand in for the paper's, with other verses and parses"
    ),
    "bert_wikipedia": Verdict(WITH_CARE, "other sentences of Wikipedia and Common Crawl than the paper drew"),
}


def verdict(config: str) -> Verdict:
    """That of a config; of others than the papers', that nothing is published of their text."""
    return VERDICTS.get(config, NOT_PUBLISHED)


def comparisons(configs: Iterable[str]) -> str:
    """A sentence for each verdict: whether the rows of these configs may be held against the published
    ones.
    """
    by_verdict: dict[Verdict, list[str]] = {}
    for config in configs:
        by_verdict.setdefault(verdict(config), []).append(config)
    return join_sentences(
        f"{', '.join(of_verdict)} beside published figures: {found.word}, {found.reason}."
        for found, of_verdict in by_verdict.items()
    )
