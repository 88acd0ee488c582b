"""Options of search and engine, as commands take them."""

import argparse

import pytest

from tests.conftest import run_command
from zsnmt.decoding.options import (
    EngineChoice,
    add_engine_options,
    add_search_options,
    chosen_search,
    engine_choice,
)
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_search_options(parser)
    add_engine_options(parser)
    return parser.parse_args(arguments)


def test_without_options_the_settings_have_their_own_defaults():
    assert chosen_search(parsed()) == Search() and engine_choice(parsed()) == EngineChoice()


def test_every_option_is_heard():
    options = parsed(
        *"--beam 7 --length-penalty 0.6 --length-penalty-form gnmt --engine fairseq --precision float32 "
        "--workers 3".split()
    )
    assert chosen_search(options) == Search(beam=7, length_penalty=0.6, length_penalty_form="gnmt")
    assert (
        engine_choice(options) == EngineChoice("fairseq", "float32", 3)
        and engine_choice(options).at_once == 3
    )


@pytest.mark.parametrize(
    "wrong, message",
    [
        (["--beam", "0"], "a beam of 0 keeps nothing; give 1 or more"),
        (["--length-penalty", "-1"], "is -1.0; it must be a number from 0 to 10"),
    ],
)
def test_a_search_that_cannot_be_is_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        chosen_search(parsed(*wrong))


def test_a_command_knows_its_options_without_waiting_for_pytorch():
    code = (
        "import sys; import zsnmt.decoding.options, zsnmt.inference.export.formats; sys.exit('torch' in "
        "sys.modules)"
    )
    assert run_command("python", "-c", code).returncode == 0
