"""The release of the multilingual TED talks of IWSLT 2017, in small."""

import logging
from itertools import permutations
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from zsnmt.corpora.parallel_text import check_corpus
from zsnmt.corpora.releases.iwslt17 import parse_segments, read_release, read_tagged
from zsnmt.errors import InputError
from zsnmt.text.lines import read_lines

LANGUAGES = ["en", "it", "nl", "ro"]
TALKS = {  # their sentences
    "train": {"7": 3, "8": 2},
    "dev2010": {"1": 2, "2": 1},
    "tst2010": {"3": 4},
    "tst2017.mltlng": {"4": 2, "5": 3},
}


def sentences(name: str, language: str) -> list[str]:
    return [
        f"{name} {talk} {line} {language} & <co>"
        for talk, lines in TALKS[name].items()
        for line in range(lines)
    ]


def tagged(language: str) -> str:
    lines = []
    for talk, number in TALKS["train"].items():
        lines += [
            f"<url>http://talks/{talk}</url>",
            "<keywords>talks, tests</keywords>",
            "<speaker>A. N.</speaker>",
            f"<talkid>{talk}</talkid>",
            "<title>A. N.: Title</title>",
            f"<description>{language}</description>",
        ]
        lines += [f" train {talk} {line} {language} &amp; <co>  " for line in range(number)]
        lines += ["<reviewer></reviewer>", '<translator href="http://people/1">B. N.</translator>']
    return "\n".join(lines) + "\n"


def xml(name: str, language: str) -> str:
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        "<mteval>",
        f'<srcset setid="{name}" srclang="{language}">',
    ]
    for talk, number in TALKS[name].items():
        lines += [
            f'<doc docid="{talk}" genre="lectures">',
            f" <url>http://t/{talk}</url>",
            " <title>T &amp; T</title>",
        ]
        lines += [
            f'<seg id="{line + 1}">  {escape(f"{name} {talk} {line} {language} & <co>")}   </seg>'
            for line in range(number)
        ]
        lines += ["</doc>"]
    return "\n".join([*lines, "</srcset>", "</mteval>"]) + "\n"


@pytest.fixture
def release(tmp_path) -> Path:
    """Both orders of every pair, training text in one folder and tst2017, each side only as a source, in
    others.
    """
    release = tmp_path / "release"
    together = release / "training" / "DeEnItNlRo"
    together.mkdir(parents=True)
    for source, target in permutations([*LANGUAGES, "de"], 2):
        pair = f"{source}-{target}"
        for side in (source, target):
            (together / f"train.tags.{pair}.{side}").write_text(tagged(side))
            for name in ("dev2010", "tst2010"):
                (together / f"IWSLT17.TED.{name}.{pair}.{side}.xml").write_text(xml(name, side))
        alone = release / "test" / source / target
        alone.mkdir(parents=True)
        (alone / f"IWSLT17.TED.tst2017.mltlng.{pair}.{source}.xml").write_text(xml("tst2017.mltlng", source))
    return release


@pytest.fixture
def target(tmp_path) -> Path:
    target = tmp_path / "text"
    target.mkdir()
    return target


def only(release: Path, name: str) -> Path:
    (path,) = release.rglob(name)
    return path


@pytest.mark.parametrize(
    "languages", [LANGUAGES, ["en", "de", "it", "nl", "ro"], ["en", "it", "nl", "ro", "de"]]
)
def test_training_with_the_pivot_and_evaluation_of_all_pairs(release, target, languages):
    counts = read_release(release, target, languages)
    others = len(languages) - 1
    assert set(counts["train"]) == {f"{language}-en" for language in languages[1:]}
    assert len(counts["valid"]) == len(counts["test"]) == others * (others + 1) // 2
    assert {split: set(pairs.values()) for split, pairs in counts.items()} == {
        "train": {5},
        "valid": {3},
        "test": {5},
    }
    for split, name in (("train", "train"), ("valid", "dev2010"), ("test", "tst2017.mltlng")):
        for pair in counts[split]:
            for language in pair.split("-"):
                assert read_lines(target / f"{split}.{pair}.{language}") == sentences(name, language)
    assert len([*target.iterdir()]) == 2 * sum(map(len, counts.values()))
    zero_shot = [(a, b) for a in languages[1:] for b in languages[1:] if a != b]
    check_corpus(target, zero_shot, ["valid", "test"])


def test_either_order_of_a_pair_will_do(release, target):
    for path in [*release.rglob("*.it-en.*.xml"), *release.rglob("train.tags.ro-en.*")]:
        if "tst2017" not in path.name:
            path.unlink()
    counts = read_release(release, target, LANGUAGES)
    assert counts["valid"]["it-en"] == 3 and counts["train"]["ro-en"] == 5


def test_without_all_of_tst2017_the_test_sets_are_tst2010_and_the_log_says_so(release, target, caplog):
    only(release, "IWSLT17.TED.tst2017.mltlng.ro-nl.ro.xml").unlink()
    counts = read_release(release, target, LANGUAGES)
    assert set(counts["test"].values()) == {4}
    assert read_lines(target / "test.it-ro.ro") == sentences("tst2010", "ro")
    (message,) = caplog.messages
    assert "the test sets are tst2010, not tst2017" in message
    assert "lack IWSLT17.TED.tst2017.mltlng.ro-nl.ro.xml; get the release" in message


def test_lines_without_a_translation_are_left_out_on_both_sides(release, target, caplog):
    caplog.set_level(logging.INFO)
    path = only(release, "train.tags.nl-en.nl")
    path.write_text(path.read_text().replace(" train 7 1 nl &amp; <co>", ""))
    path = only(release, "IWSLT17.TED.dev2010.it-nl.it.xml")
    path.write_text(path.read_text().replace("dev2010 2 0 it &amp; &lt;co&gt;", ""))
    counts = read_release(release, target, LANGUAGES)
    assert counts["train"] == {"it-en": 5, "nl-en": 4, "ro-en": 5} and counts["valid"]["it-nl"] == 2
    assert read_lines(target / "train.nl-en.en") == [
        line for line in sentences("train", "en") if "7 1" not in line
    ]
    assert "train.nl-en: lines with an empty sentence, left out: 1" in caplog.messages


def test_stray_characters_become_spaces(release, target):
    odd = "\ufeff" + tagged("it").replace("7 1", "7\u2028\x0b\x851")
    only(release, "train.tags.it-en.it").write_bytes(odd.encode())
    path = only(release, "IWSLT17.TED.dev2010.it-en.it.xml")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"1 1 it", b"1\t\x01\xc2\x85 1 it\0"))
    read_release(release, target, LANGUAGES)
    assert read_lines(target / "train.it-en.it") == sentences("train", "it")
    assert read_lines(target / "valid.it-en.it") == sentences("dev2010", "it")


# Conditions


@pytest.fixture
def uneven(release) -> Path:
    """A release whose pairs have other sentences in part: each lacks another one and has one twice."""
    for place, language in enumerate(LANGUAGES[1:]):
        for side in (language, "en"):
            path = only(release, f"train.tags.{language}-en.{side}")
            lines = [f" more {number} {side}" for number in range(20) if number != place]
            repeated = [
                " more 9 it" if side == "it" else f" more 9 {side} again" if side != "en" else " more 9 en"
            ]
            path.write_text(path.read_text() + "\n".join(lines + repeated) + "\n")
    return release


def training(target: Path, language: str) -> list[tuple[str, str]]:
    sides = (read_lines(target / f"train.{language}-en.{side}") for side in (language, "en"))
    return [*zip(*sides, strict=True)]


def test_multiway_pairs_have_the_same_english_sentences_in_one_order(uneven, target):
    counts = read_release(uneven, target, LANGUAGES, condition="multiway")
    assert set(counts["train"].values()) == {5 + 17}
    english = {language: [row[1] for row in training(target, language)] for language in LANGUAGES[1:]}
    assert english["it"] == english["nl"] == english["ro"]
    assert len({*english["it"]}) == 22 and not {f"more {number} en" for number in range(3)} & {*english["it"]}
    for language in LANGUAGES[1:]:
        assert all(
            other == sentence.replace(" en", f" {language}") for other, sentence in training(target, language)
        )


def test_a_number_of_multiway_pairs_are_drawn_for_all_alike(uneven, target, tmp_path):
    def chosen(name: str, languages: list[str], seed: int = 1) -> set[str]:
        folder = tmp_path / name
        folder.mkdir()
        counts = read_release(uneven, folder, languages, condition="multiway", pairs=9, seed=seed)
        assert set(counts["train"].values()) == {9}
        (english,) = {tuple(row[1] for row in training(folder, language)) for language in languages[1:]}
        return {*english}

    one = chosen("one", LANGUAGES)
    assert one == chosen("order", ["en", "ro", "it", "nl"]) != chosen("seed", LANGUAGES, seed=2)


def test_diverse_pairs_draw_lines_of_their_own(uneven, target):
    counts = read_release(uneven, target, LANGUAGES, condition="diverse", pairs=9)
    assert set(counts["train"].values()) == {9}
    english = [{row[1] for row in training(target, language)} for language in LANGUAGES[1:]]
    assert len(set.union(*english)) > 9


def test_a_held_out_sentence_is_in_no_pair_of_a_condition(uneven, target, caplog):
    path = only(uneven, "train.tags.nl-en.nl")
    path.write_text(
        path.read_text().replace(" more 7 nl", " Tst2017 mltlng 4 0 nl & co!".replace("&", "&amp;"))
    )
    path = only(uneven, "IWSLT17.TED.tst2017.mltlng.nl-en.nl.xml")
    path.write_text(path.read_text().replace("tst2017.mltlng 4 0 nl", "tst2017 mltlng 4 0 nl"))
    read_release(uneven, target, LANGUAGES, condition="multiway")
    assert all("more 7" not in row[1] for language in LANGUAGES[1:] for row in training(target, language))
    assert any("more 8" in row[1] for row in training(target, "it"))


def test_without_a_condition_every_line_is_there_as_before(uneven, target):
    counts = read_release(uneven, target, LANGUAGES)
    assert set(counts["train"].values()) == {5 + 20}


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"condition": "full"}, "unknown condition 'full': it must be one of diverse, multiway"),
        ({"pairs": 0}, "0 sentence pairs are too few to train on; give 1 or more"),
    ],
)
def test_settings_out_of_range_are_refused(release, target, settings, message):
    with pytest.raises(InputError, match=message):
        read_release(release, target, LANGUAGES, **settings)


def test_pairs_without_a_sentence_in_common_have_no_multiway_text(release, target):
    path = only(release, "train.tags.nl-en.en")
    path.write_text(path.read_text().replace(" en &amp;", " english &amp;"))
    with pytest.raises(
        InputError, match="no English sentence is in all of train.it-en, train.nl-en, train.ro"
    ):
        read_release(release, target, LANGUAGES, condition="multiway")


# Releases that are not whole


def fails(release: Path, target: Path, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_release(release, target, LANGUAGES)
    assert "\n" not in str(caught.value)


def test_what_is_missing_is_named(release, target):
    for path in release.rglob("train.tags.*ro*"):
        path.unlink()
    fails(
        release,
        target,
        "release and the folders below it lack train.tags.ro-en.ro, train.tags.ro-en.en; "
        "get the release with zsnmt fetch iwslt17",
    )
    assert not [*target.iterdir()], "nothing is written before all files are found"


@pytest.mark.parametrize(
    "line", [" train 7 1 ro &amp; <co>  \n", "<reviewer></reviewer>\n", "<talkid>8</talkid>\n"]
)
@pytest.mark.parametrize("times", [0, 2])
def test_a_line_too_few_or_too_many_on_one_side(release, target, line, times):
    path = only(release, "train.tags.ro-en.ro")
    path.write_text(path.read_text().replace(line, line * times, 1))
    fails(release, target, r"ro-en.ro and .*ro-en.en are not parallel at line \d+: one has a sentence")


@pytest.mark.parametrize("side, other", [("ro", "en"), ("en", "ro")])
def test_a_side_that_ends_early(release, target, side, other):
    path = only(release, f"train.tags.ro-en.{side}")
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    fails(release, target, f"train.tags.ro-en.{side} ends before line 21 of .*train.tags.ro-en.{other}")


def test_segments_that_do_not_match(release, target):
    path = only(release, "IWSLT17.TED.tst2017.mltlng.nl-it.nl.xml")
    whole = path.read_text()
    path.write_text("".join(line for line in whole.splitlines(keepends=True) if "5 1 nl" not in line))
    fails(
        release, target, "it-nl.it.xml and .*nl-it.nl.xml part at segment 2 of talk 5; get the release again"
    )
    path.write_text(whole.replace('docid="5"', 'docid="6"'))
    fails(release, target, "part at segment 1 of talk 5")
    path.write_text(whole.replace('<seg id="2">', '<seg id="1">'))
    fails(release, target, "has segment 1 of talk 4 twice")


def test_xml_that_defines_entities_is_not_read(release, target):
    path = only(release, "IWSLT17.TED.dev2010.it-en.it.xml")
    bomb = '<!DOCTYPE mteval [\n<!ENTITY a "ha">\n<!ENTITY b "&a;&a;">\n]>\n<mteval>'
    path.write_text(path.read_text().replace("<mteval>", bomb).replace("dev2010 1 0", "&b;"))
    fails(release, target, "it-en.it.xml, line 2 defines a document type or an entity, which is not read")


def test_a_stray_ampersand_is_named_with_its_line(release, target):
    path = only(release, "IWSLT17.TED.dev2010.it-en.it.xml")
    path.write_text(path.read_text().replace("1 1 it &amp;", "1 1 it &"))
    fails(
        release,
        target,
        r"it-en.it.xml, line 8 is not XML \(not well-formed .*\); .* write a stray & as &amp;",
    )


@pytest.mark.parametrize("name", ["train.tags.it-en.it", "IWSLT17.TED.dev2010.it-en.it.xml"])
@pytest.mark.parametrize(
    "old, new, message",
    [
        (b"\n", b"\r\n", "line 1 ends with a carriage return; convert the file with dos2unix"),
        (b" it ", b" \xe9 ", r"line \d+, byte \d+: 0xe9 is not UTF-8"),
    ],
)
def test_another_encoding(release, target, name, old, new, message):
    path = only(release, name)
    path.write_bytes(path.read_bytes().replace(old, new))
    fails(release, target, f"{name}, {message}")


def test_an_empty_file(release, target):
    only(release, "train.tags.it-en.it").write_bytes(b"")
    fails(release, target, "train.tags.it-en.it is empty")


# The two forms of files


def test_a_sentence_may_begin_with_a_bracket(tmp_path):
    for side in ("it", "en"):
        (tmp_path / side).write_text(
            f"<title>T</title>\n<laughs> {side}\n</doc>\n a < b, &quot;{side}&quot;\n"
        )
    pairs = [*read_tagged(tmp_path / "it", tmp_path / "en")]
    assert pairs == [("<laughs> it", "<laughs> en"), ('a < b, "it"', 'a < b, "en"')]


def test_segments_by_talk_and_number(tmp_path):
    (tmp_path / "xml").write_text(xml("tst2010", "it"))
    segments = parse_segments(tmp_path / "xml")
    assert [*segments] == [("3", "1"), ("3", "2"), ("3", "3"), ("3", "4")]
    assert segments["3", "2"].strip() == sentences("tst2010", "it")[1]
