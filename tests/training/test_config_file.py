"""How a config is written: what bash gave for every config of the project, and a sentence for what breaks
a rule.
"""

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT, TINY_CONFIG, changed
from zsnmt.errors import InputError
from zsnmt.masked_lm.config import StudyConfig, XnliConfig, read_study_config, read_xnli_config
from zsnmt.training.config import Config, read_config
from zsnmt.training.config_file import ConfigFile, keys_of

KEYS = ("NAME", "OTHER", "THIRD")
CONFIGS = sorted((ROOT / "configs").glob("*.conf"))


def kind_of(config: Path) -> type:
    return (
        XnliConfig
        if "nli" in config.stem  # of inference
        else StudyConfig
        if config.stem.startswith("bert_")
        else Config
    )


def read(folder: Path, text: str, **variables: str) -> dict[str, str]:
    """The values of a config of three keys."""
    path = folder / "some.conf"
    path.write_text(text, encoding="utf-8")
    file = ConfigFile(path, KEYS, {"ROOT": "/the/root", "HOME": "/home/me", **variables})
    return {key: file.value(key) for key in file.settings}


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(InputError) as error:
        read(folder, text)
    return str(error.value)


@pytest.mark.parametrize(
    "variables",
    [{}, {"MULTI30K": "/some/where", "BIBLE": "b", "UD": "", "TREES": "t/t", "IWSLT17": "i w"}],
    ids=["unset", "set"],
)
@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.stem)
def test_every_config_says_what_it_says_to_bash(config, variables):
    keys = keys_of(kind_of(config))
    script = (
        'set -eu; for key in "${@:2}"; do printf -v "$key" "%s" ""; done; source "$1"; for key in '
        '"${@:2}"; do printf "%s\\0" "${!key}"; done'
    )
    environment = {"ROOT": str(ROOT), "PATH": os.environ["PATH"], **variables}
    said = subprocess.run(
        ["bash", "-c", script, "bash", config, *keys],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    file = ConfigFile(config, keys, {"ROOT": str(ROOT), **variables})
    assert {key: file.value(key) for key in keys} == dict(zip(keys, said.split("\0")))


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.stem)
def test_every_config_has_the_values_that_its_kind_takes(config, tmp_path):
    kind, variables = kind_of(config), {"ROOT": str(ROOT)}
    if kind is XnliConfig:
        text = config.read_text().replace("=path/to/", f"={tmp_path}/")
        config = tmp_path / config.name
        config.write_text(text)
        for folder in ("text", "multinli_1.0", "XNLI-1.0"):
            (tmp_path / folder).mkdir()
        read = read_xnli_config(config, variables)
        expected = ((0, 1, 2), 64) if read.synthetic else ((0, 42), 16)
        assert (read.seeds, read.device_batch) == expected
    elif kind is StudyConfig:
        read = read_study_config(config, variables)
        assert read.conditions and read.systems and ("--max-update" in read.training) == (not read.epochs)
    else:
        read = read_config(config, variables)
        assert len(read.languages) > 1 and read.training and read.vocabulary > 0


def test_values_are_words_lines_and_variables(tmp_path):
    assert read(
        tmp_path,
        '\n# a comment with KEY=value and "quotes"\n  NAME=word # and why\nOTHER="two words" # it\'s\n',
    ) == {"NAME": "word", "OTHER": "two words"}
    assert read(tmp_path, 'NAME="first #\n  second"\nOTHER=a#b\nTHIRD=') == {
        "NAME": "first #\n  second",
        "OTHER": "a#b",
        "THIRD": "",
    }
    text = 'NAME="$ROOT/x ${ROOT}y"\nOTHER=${FOLDER:-data/it}/$NAME\nTHIRD="${FOLDER:-a b}"'
    assert read(tmp_path, text) == {
        "NAME": "/the/root/x /the/rooty",
        "OTHER": "data/it//the/root/x /the/rooty",
        "THIRD": "a b",
    }
    assert read(tmp_path, text, FOLDER="f", NAME="not this one") == {
        "NAME": "/the/root/x /the/rooty",
        "OTHER": "f//the/root/x /the/rooty",
        "THIRD": "f",
    }
    assert read(tmp_path, "NAME=${FOLDER:-x}", FOLDER="") == {"NAME": "x"}


def test_a_key_that_is_not_set_before_is_no_variable_of_the_config(tmp_path):
    """The environment's is taken, as bash would, and where there is none it is missed."""
    assert read(tmp_path, "NAME=${NAME:-x}\nOTHER=$THIRD", NAME="given", THIRD="t") == {
        "NAME": "given",
        "OTHER": "t",
    }
    assert "line 1, takes NAME from OTHER, which is not set" in refusal(tmp_path, "NAME=$OTHER\nOTHER=late")


@pytest.mark.parametrize(
    "text, line, message",
    [
        ("NAME=a\nVOCABULARI=3", 2, "sets 'VOCABULARI', which is not a key; the keys are NAME, OTHER, THIRD"),
        ("NAME=a\n\nNAME=b", 3, "sets NAME, which line 1 sets too; leave one of the two out"),
        (
            "NAME=$(date)",
            1,
            "asks NAME to run a command; a config is read and never run, so write the value itself",
        ),
        ('NAME="\n`date`"', 1, "asks NAME to run a command"),
        ("NAME=`date`", 1, "asks NAME to run a command"),
        (
            '# why\nNAME="a\nOTHER=b\n',
            2,
            "opens a double quote for NAME that nothing closes; end the value with one",
        ),
        ("export NAME=a", 1, "is 'export NAME=a'; a config holds nothing but KEY=value"),
        ("echo hello", 1, "is 'echo hello'; a config holds nothing but KEY=value"),
        (
            "NAME=a b",
            1,
            "goes on after the value of NAME: 'NAME=a b'; put a value with spaces or signs into double "
            "quotes",
        ),
        ("NAME='a b'", 1, "goes on after the value of NAME"),
        ("declare NAME=a", 1, "is 'declare NAME=a'; a config holds nothing but KEY=value"),
        ("exit 0", 1, "is 'exit 0'; a config holds nothing but KEY=value"),
        ("NAME+=a", 1, "is 'NAME+=a'; a config holds nothing but KEY=value"),
        ("PATH=/x", 1, "sets 'PATH', which is not a key; the keys are NAME, OTHER, THIRD"),
        ("NAME=a; OTHER=b", 1, "goes on after the value of NAME: 'NAME=a; OTHER=b'; put"),
        ('NAME="a"OTHER=b', 1, "goes on after the value of NAME"),
        (
            "NAME=a\nOTHER=$NOWHERE",
            2,
            "takes OTHER from NOWHERE, which is not set; set it in the environment, or write "
            "${NOWHERE:-text}",
        ),
        (
            "NAME=${HOME/a/b}",
            1,
            "has a $ in NAME that names no variable; write $NAME, ${NAME} or ${NAME:-text}",
        ),
        ('NAME="${HOME:-${ROOT}}"', 1, "has a $ in NAME that names no variable"),
        ('NAME="a\\"b"', 1, "goes on after the value"),
        ('NAME="a\\\nb"', 1, "has a backslash in NAME"),
        ("NAME=~/data", 1, "sets NAME=~/data; write $HOME in place of ~"),
        ("\ufeff# A comment.\nNAME=a", 1, "begins with a byte order mark; save the file without one"),
        ("NAME=a\nOTHER=b\r\n", 2, "has Windows line ends; convert the file with dos2unix"),
    ],
)
def test_what_breaks_a_rule_gets_one_sentence_with_its_line(tmp_path, text, line, message):
    if "\r" in text:
        (tmp_path / "some.conf").write_bytes(text.encode())
        with pytest.raises(InputError) as error:
            ConfigFile(tmp_path / "some.conf", KEYS, {})
        said = str(error.value)
    else:
        said = refusal(tmp_path, text)
    assert said.startswith(f"{tmp_path / 'some.conf'}, line {line}, ") and message in said


def test_a_command_in_a_config_is_not_run(tmp_path):
    trace = tmp_path / "trace"
    assert "run a command" in refusal(tmp_path, f'NAME="$(touch {trace})"')
    assert "is 'touch" in refusal(tmp_path, f"touch {trace}")
    assert not trace.exists()


def test_a_file_that_is_missing_or_not_text_is_named(tmp_path):
    path = tmp_path / "some.conf"
    with pytest.raises(
        InputError,
        match=f"there is no config '{path}'; the ones that come with zsnmt are in /the/root/configs",
    ):
        ConfigFile(path, KEYS, {"ROOT": "/the/root"})
    path.write_bytes("NAME=a\nOTHER=b\nTHIRD=é".encode("latin-1"))
    with pytest.raises(InputError, match="line 3, is not UTF-8; convert the file to UTF-8"):
        ConfigFile(path, KEYS, {})


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"VOCABULARY": "many"}, "line 3, sets VOCABULARY=many; it must be a whole number above 0"),
        ({"AVERAGE": "0"}, "line 5, sets AVERAGE=0; it must be a whole number above 0"),
        ({"BEAM": "-2"}, "line 6, sets BEAM=-2; it must be a whole number above 0"),
        ({"THRESHOLD": "1.5"}, "line 11, sets THRESHOLD=1.5; it must be a whole number, 0 or above"),
        ({"LENGTH_PENALTY": "-0.6"}, "sets LENGTH_PENALTY=-0.6; it must be a number, 0 or above, like 0.6"),
        ({"LENGTH_PENALTY": "nan"}, "sets LENGTH_PENALTY=nan; it must be a number"),
        (
            {"PRECISION": "float16"},
            "sets PRECISION=float16; write float32 or int8, or leave it out",
        ),
        (
            {"LENGTH_PENALTY_FORM": "GNMT"},
            "sets LENGTH_PENALTY_FORM=GNMT; write power or gnmt, or leave it out",
        ),
        ({"MARK_TOKENS": "no"}, "sets MARK_TOKENS=no; write yes, or leave it out"),
        ({"IDENTIFIER": "guess"}, "sets IDENTIFIER=guess; write py3langid or lexicon, or leave it out"),
        ({"LANGUAGES": "inglan ../x"}, "line 2, sets LANGUAGES=inglan ../x: '../x' is not a language code"),
        ({"LANGUAGES": "inglan velan velan"}, "sets LANGUAGES=inglan velan velan: 'velan' is there twice"),
        ({"LANGUAGES": "inglan *"}, "line 2, sets LANGUAGES=inglan *: '*' is not a language code"),
        (
            {"TRAINING": "--lr 1 --user-dir /else/where"},
            "TRAINING=--lr 1 --user-dir /else/where: --user-dir would run the code of a folder",
        ),
        ({"MODEL": "--user-dir=x"}, "MODEL=--user-dir=x: --user-dir would run the code of a folder"),
        (
            {"TRAINING": "--adam-betas '(0.9, 0.98)'"},
            "words end at spaces, and a quote has no meaning in a value; write (0.9,0.98) without either",
        ),
        ({"PAIRS": "few"}, "line 11, sets PAIRS=few: 'few' gives no numbers of sentence pairs; write 30000"),
        ({"SUBWORD_TYPE": "word", "THRESHOLD": "50"}, "words have no threshold"),
        ({"BALANCE": "0.5"}, "balance 0.5 cannot be used; 1 keeps natural shares"),
        ({"MERGES": "90"}, "line 11, sets MERGES beside VOCABULARY; leave one of the two out"),
        (
            {"VOCABULARY": "", "MERGES": "90", "SUBWORD_TYPE": "unigram"},
            "merge operations are those of BPE, not of 'unigram'; give its number of pieces",
        ),
        ({"TRANSLITERATE": "latin"}, "sets TRANSLITERATE=latin; write devanagari, or leave it out"),
        (
            {"SUBWORD_TYPE": "word", "BLEU_TOKENIZER": "subwords"},
            "line 12, sets BLEU_TOKENIZER=subwords, which a model of whole words",
        ),
        ({"LANGUAGES": ""}, "line 2, does not set LANGUAGES, the language codes with the pivot first"),
        (
            {"TEXT": "somewhere"},
            "by exactly one of TEXT, SYNTHETIC, MULTIWAY and RELEASE; it sets TEXT and SYNTHETIC",
        ),
        ({"SYNTHETIC": ""}, "it sets none of them"),
        ({"SYNTHETIC": "", "RELEASE": "."}, "sets RELEASE but not CORPUS"),
        ({"CORPUS": "europarl"}, "sets CORPUS, which belongs to RELEASE"),
        (
            {"CONDITION": "multiway"},
            'sets CONDITION, which belongs to MULTIWAY; write that of a release as CORPUS="... --condition '
            'multiway"',
        ),
    ],
)
def test_a_wrong_value_gets_one_sentence_with_its_line(tmp_path, changes, message):
    path = tmp_path / "wrong.conf"
    path.write_text(changed(TINY_CONFIG, **changes))
    with pytest.raises(InputError) as error:
        read_config(path, {})
    assert str(error.value).startswith(str(path)) and message in str(error.value)


@pytest.mark.parametrize(
    "settings, message",
    [
        (
            'EPOCHS=3\nTRAINING="--lr 1 --max-update 9"',
            "line 4, has --max-update, which EPOCHS and BATCH say already; leave it out, or leave out EPOCHS",
        ),
        ('EPOCHS=3\nTRAINING="--batch-size 9"', "line 4, has --batch-size"),
        ("BATCH=9", "line 3, sets BATCH, which belongs to EPOCHS"),
    ],
)
def test_a_study_counts_epochs_or_updates(tmp_path, settings, message):
    path = tmp_path / "some.conf"
    path.write_text(f"TRAIN=a\nVALID=b\n{settings}\n")
    with pytest.raises(InputError, match=message):
        read_study_config(path, {})
