"""The pivot's sentences beside the pairs whose sides are translations of them."""

from argparse import Namespace

import pytest
from fairseq.data import Dictionary

from tests.distillation.conftest import DIRECTIONS, LANGUAGES, PIVOT, data_of
from zsnmt.data.data_manager import TaggedDataManager
from zsnmt.data.language_tags import TagPlacement
from zsnmt.distillation.data import reverse
from zsnmt.distillation.pivot_sides import make_pivot_sides
from zsnmt.errors import InputError
from zsnmt.languages import Direction
from zsnmt.text.lines import read_lines
from zsnmt.training.steps import Steps


@pytest.fixture
def folders(text):
    """Those of the data of targets and sources, with the pivot's sentences."""
    data_of(text, "both")
    return make_pivot_sides(Steps("distill"), text, DIRECTIONS, workers=1)


def loaded(folder, direction, longest=100):
    """The pairs of a direction, as training reads them, and the dictionary."""
    dictionary = Dictionary.load(str(folder.parents[1] / "data" / "main" / f"dict.{PIVOT}.txt"))
    options = Namespace(
        seed=1,
        extra_lang_pairs=None,
        lang_pairs=[str(direction)],
        langs=LANGUAGES,
        source_dict=None,
        target_dict=None,
        lang_dict=None,
        dataset_impl="mmap",
        upsample_primary=1,
        truncate_source=False,
        max_source_positions=longest,
        left_pad_source=True,
        left_pad_target=False,
        valid_subset="valid",
    )
    manager = TaggedDataManager(
        options,
        [str(direction)],
        [],
        langs=LANGUAGES,
        dicts=dict.fromkeys(LANGUAGES, dictionary),
        sampling_method=None,
    )
    manager.placement = TagPlacement("s_enc_t_dec", dictionary)
    pairs = manager.load_a_dataset(
        "train", str(folder), direction.source, dictionary, direction.target, dictionary, combine=True
    )
    return pairs, dictionary


@pytest.mark.parametrize("use", ["targets", "sources"])
def test_both_sides_of_a_pair_are_translations_of_the_pivots_sentence(text, folders, use, translate):
    for direction in DIRECTIONS:
        english = read_lines(text.folder / "pivot_sides" / f"train.{direction}.{PIVOT}")
        synthetic = read_lines(text.text / direction.source / f"train.{direction}.{direction.target}")
        assert synthetic == [translate(line, Direction(PIVOT, direction.target)) for line in english]
        read = direction if use == "targets" else reverse(direction)
        pairs, dictionary = loaded(folders[use], read)
        assert len(pairs) == len(english)
        for index in (0, len(english) - 1):
            tag, *words = pairs[index]["pivot"].tolist()
            assert dictionary[tag] == f"__{PIVOT}__" and words[-1] == dictionary.eos()
            said = "".join(dictionary[word] for word in words[:-1]).replace("\u2581", " ").strip()
            assert said == english[index]


def test_a_sentence_of_the_pivot_is_cut_where_the_model_reads_no_more(folders):
    pairs, dictionary = loaded(folders["targets"], DIRECTIONS[0], longest=4)
    assert max(len(pairs[index]["pivot"]) for index in range(len(pairs))) == 4
    assert all(pairs[index]["pivot"][-1] == dictionary.eos() for index in range(len(pairs)))


def test_other_data_have_no_sentences_of_the_pivot(text, folders):
    pairs, _ = loaded(text.data / "targets", DIRECTIONS[0])
    assert pairs[0]["pivot"] is None and "pivot" not in pairs.collater([pairs[0]])


def test_sentences_that_are_not_those_of_the_pairs_are_refused(folders):
    one, other = DIRECTIONS[0], DIRECTIONS[-1]
    for ending in ("idx", "bin"):
        wrong = folders["targets"] / f"train.{one}.{PIVOT}.{ending}"
        wrong.unlink()
        wrong.symlink_to(
            folders["sources"].parents[1] / "data" / "main" / f"valid.{PIVOT}-{other.source}.{PIVOT}.{ending}"
        )
    with pytest.raises(InputError, match=r"has \d+ sentences, and there are \d+ pairs beside"):
        loaded(folders["targets"], one)
