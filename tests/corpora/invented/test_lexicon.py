"""The lexicons: enough different words, and measures of how alike two languages are."""

from zsnmt.corpora.invented.lexicon import concept_inventory, edit_distance, lexical_overlap, make_stems


def test_more_concepts_keep_the_smaller_inventory() -> None:
    small, large = concept_inventory(60), concept_inventory(320)
    assert all(large[word_class][: len(concepts)] == concepts for word_class, concepts in small.items())
    assert sum(map(len, small.values())) == 60 and sum(map(len, large.values())) == 320


def test_many_concepts_still_get_different_words() -> None:
    inventory = concept_inventory(1500)
    levels = {concept: "shared" for concepts in inventory.values() for concept in concepts}
    stems = make_stems("lang", "fam", inventory, levels, 0.5, 1)
    assert len(set(stems.values())) == len(stems) > 1500


def test_overlap_and_distance_by_hand() -> None:
    assert lexical_overlap(["a", "b"], ["b", "c", "d"]) == 1 / 4
    assert edit_distance("kitten", "sitting") == 3
    assert edit_distance("", "abc") == edit_distance("abc", "") == 3
