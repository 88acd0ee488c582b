"""What `fetch` knows of the corpora: licences, and where their files are. Data, and how names are made.

Sizes and checksums are known from the Git repositories of Hugging Face datasets (IWSLT 2017, FLORES-200) and
of Multi30k; for Europarl, PMIndia and the test set of IWSLT 2017 nobody publishes any. Bibles and treebanks
are named by a commit or a tag of their repositories.
"""

from collections.abc import Sequence
from functools import partial
from itertools import combinations

from zsnmt.corpora.releases.fetch import Corpus, Part, ReleaseFile
from zsnmt.corpora.releases.pmindia import read_columns
from zsnmt.text.iso_639 import three_letters

WIT3 = "https://drive.google.com/u/0/uc?confirm=t&id="  # where wit3.fbk.eu sends its visitors
HUGGING_FACE = "https://huggingface.co/datasets/iwslt2017/resolve"
TALKS = "data/2017-01-trnmted/texts/DeEnItNlRo/DeEnItNlRo/DeEnItNlRo-DeEnItNlRo"
EUROPARL = "https://www.statmt.org/europarl/v7"
PMINDIA = "https://data.statmt.org/pmindia/v1/parallel"
TATOEBA = "https://downloads.tatoeba.org/exports/per_language"
# A commit, so that the files stay as they are.
MULTI30K = "a3d2e0d26b56f3846f66a952536ffed4e401d05a/data/task1/raw"

EBIBLE = "https://raw.githubusercontent.com/BibleNLP/ebible/83019730e08cc303ca232377511852253a20ff0b/corpus"
UD = "https://raw.githubusercontent.com/UniversalDependencies"
UD_VERSION = "r2.14"
TREEBANKS = {  # of languages: repository, and the file to learn word order from
    "en": ("UD_English-EWT", "en_ewt-ud-train.conllu"),
    "ar": ("UD_Arabic-PADT", "ar_padt-ud-train.conllu"),
    "de": ("UD_German-GSD", "de_gsd-ud-train.conllu"),
    "eu": ("UD_Basque-BDT", "eu_bdt-ud-train.conllu"),
    "fi": ("UD_Finnish-TDT", "fi_tdt-ud-train.conllu"),
    "fr": ("UD_French-GSD", "fr_gsd-ud-train.conllu"),
    "hi": ("UD_Hindi-HDTB", "hi_hdtb-ud-train.conllu"),
    "sv": ("UD_Swedish-Talbanken", "sv_talbanken-ud-train.conllu"),
}

TALKS_IN_ALL_LANGUAGES = Part(
    (
        ReleaseFile(
            "DeEnItNlRo-DeEnItNlRo.tgz",
            (f"{HUGGING_FACE}/ebd7c60d9800c2a1be010a227e5f0a2363730f7a/{TALKS}.tgz",),
            size=329331279,
            sha256="cebb3839b7580f8e4eecf66d75424caa29b9410a9a491a732b2d343626ee0243",
        ),
        ReleaseFile(
            "2017-01-trnmted.tgz",
            (f"{WIT3}12ycYSzLIG253AFN35Y6qoyf9wtkOjakp",),
            size=329433918,
            sha256="1125a2f90bc7df4f41f1b32eb17e847e6263b564e0e4214379f558ea53f95166",
            nested=("**/DeEnItNlRo-DeEnItNlRo.tgz",),
        ),
        ReleaseFile("DeEnItNlRo-DeEnItNlRo.zip", (f"{HUGGING_FACE}/main/{TALKS}.zip",)),
    )
)

TALKS_OF_TST2017 = Part(
    (
        ReleaseFile(
            "2017-01-mted-test.tgz",
            (f"{WIT3}1hIryKXS4iR9Wv_yiZv9AlgLGnOnKx2_Z",),
            nested=("**/[a-z][a-z]-[a-z][a-z].tgz",),
        ),
    )
)

MULTI30K_FILES = {
    "train.en.gz": (568929, "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f"),
    "train.de.gz": (637044, "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6"),
    "train.fr.gz": (604242, "622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c"),
    "train.cs.gz": (593827, "a65adb8b32e3bc664f21ecba7a6e7f6950fd1f405e135f7c312faabdb6255077"),
    "val.en.gz": (21650, "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28"),
    "val.de.gz": (24681, "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a"),
    "val.fr.gz": (23001, "ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9"),
    "val.cs.gz": (22096, "b63226e05c4bd5dd6a42897d74b86a1b9d2c31498252c572b1ea7f7996927fcc"),
    "test_2016_flickr.en.gz": (21077, "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9"),
    "test_2016_flickr.de.gz": (22890, "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8"),
    "test_2016_flickr.fr.gz": (22310, "6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90"),
    "test_2016_flickr.cs.gz": (22572, "200a4a74cc9560f051924abb9803be008d1908d77f747e9141aeb86dfd2797f1"),
}


def multi30k_part(name: str, size: int, sha256: str) -> Part:
    urls = (
        f"https://raw.githubusercontent.com/multi30k/dataset/{MULTI30K}/{name}",
        f"https://github.com/multi30k/dataset/raw/{MULTI30K}/{name}",
    )
    return Part((ReleaseFile(name, urls, size, sha256=sha256),), language=name.split(".")[1])


def part(base: str, name: str, language: str) -> Part:
    return Part((ReleaseFile(name, (f"{base}/{name}",)),), language)


def pmindia_part(language: str) -> Part:
    name = f"pmindia.v1.{language}-en.tsv"
    file = ReleaseFile(name, (f"{PMINDIA}/{name}",), read=partial(read_columns, language=language))
    return Part((file,), language)


def treebank(language: str) -> Part:
    """A treebank by the name that the configs of masked language models have for it."""
    repository, name = TREEBANKS[language]
    return Part((ReleaseFile(f"{language}.conllu", (f"{UD}/{repository}/{UD_VERSION}/{name}",)),), language)


def tatoeba_parts(languages: Sequence[str]) -> tuple[Part, ...]:
    """The sentences of each language, and the links between each two, which the export may not have."""
    codes = [*map(three_letters, languages)]
    sentences = [
        Part((tatoeba_file(f"{code}_sentences.tsv.bz2", code),), language)
        for code, language in zip(codes, languages)
    ]
    links = [
        Part(tuple(tatoeba_file(f"{one}-{other}_links.tsv.bz2", one) for one, other in orders), optional=True)
        for orders in (((one, other), (other, one)) for one, other in combinations(codes, 2))
    ]
    return *sentences, *links


def tatoeba_file(name: str, code: str) -> ReleaseFile:
    return ReleaseFile(name, (f"{TATOEBA}/{code}/{name}",))


FLORES_FILE = ReleaseFile(
    "flores200_dataset.tar.gz",
    ("https://dl.fbaipublicfiles.com/nllb/flores200_dataset.tar.gz",),
    size=25585843,
    sha256="b8b0b76783024b85797e5cc75064eb83fc5288b41e9654dabc7be6ae944011f6",
)

EUROPARL_LANGUAGES = ("da", "de", "es", "fi", "fr", "it", "nl", "pt")
PMINDIA_LANGUAGES = ("bn", "gu", "hi", "kn", "ml", "mr", "or", "pa", "te")

CATALOGUE = {
    "iwslt17": Corpus(
        licence="IWSLT 2017, multilingual task: talks of TED Conferences LLC under CC BY-NC-ND "
        "(attribution, non-commercial, no derivatives)",
        homepage="https://wit3.fbk.eu/2017-01 (training, dev2010, tst2010) and "
        "https://wit3.fbk.eu/2017-01-b (tst2017)",
        languages=("en", "de", "it", "nl", "ro"),
        parts=(TALKS_IN_ALL_LANGUAGES, TALKS_OF_TST2017),
    ),
    "europarl": Corpus(
        licence="Europarl v7: no licence; its makers know of no copyright restrictions",
        homepage="https://www.statmt.org/europarl",
        languages=("en", *EUROPARL_LANGUAGES),
        parts=tuple(part(EUROPARL, f"{language}-en.tgz", language) for language in EUROPARL_LANGUAGES),
    ),
    "pmindia": Corpus(
        licence="PMIndia v1: CC BY 4.0",
        homepage="https://data.statmt.org/pmindia",
        languages=("en", *PMINDIA_LANGUAGES),
        parts=tuple(map(pmindia_part, PMINDIA_LANGUAGES)),
    ),
    "multi30k": Corpus(
        licence="Multi30k: for non-commercial research and education, as Flickr30K, from which it is derived",
        homepage="https://github.com/multi30k/dataset",
        languages=("en", "de", "fr", "cs"),
        parts=tuple(multi30k_part(name, *facts) for name, facts in MULTI30K_FILES.items()),
    ),
    "tatoeba": Corpus(
        licence="Tatoeba: sentences under CC BY 2.0 FR, some under CC0; name tatoeba.org where you use them",
        homepage="https://tatoeba.org/downloads",
        make_parts=tatoeba_parts,
    ),
    "flores": Corpus(
        licence="FLORES-200: CC BY-SA 4.0; its makers ask that nobody trains on it",
        homepage="https://github.com/facebookresearch/flores",
        parts=(Part((FLORES_FILE,)),),
    ),
    "ebible": Corpus(
        licence="Two English Bibles of eBible.org, verse by verse: the Bible in Basic English, in the public "
        "domain in the United States, and the King James Version, in the public domain but for rights of the "
        "Crown in the United Kingdom",
        homepage="https://github.com/BibleNLP/ebible",
        languages=("en",),
        parts=tuple(part(EBIBLE, name, "en") for name in ("eng-engBBE.txt", "eng-eng-kjv2006.txt")),
    ),
    "ud": Corpus(
        licence="Universal Dependencies 2.14, training parts: CC BY-SA 4.0 (en, de, fi, fr, sv); not for "
        "commercial use CC BY-NC-SA 4.0 (hi) and 3.0 (ar, eu)",
        homepage="https://universaldependencies.org",
        languages=tuple(TREEBANKS),
        parts=tuple(map(treebank, TREEBANKS)),
    ),
}
