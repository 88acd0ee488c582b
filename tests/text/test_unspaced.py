"""Where one text goes on with another, with a space between or without."""

import pytest

from zsnmt.text.unspaced import closes_up, join_texts


@pytest.mark.parametrize(
    "text",
    ["狗在跑。", "走！", "本です。」", "“两只猫。”", "他说(狗)。", "跑", "ラーメン", "（見る）", "走。 "],
)
def test_chinese_and_japanese_texts_close_up(text):
    assert closes_up(text) and join_texts([text, "狗"]) == f"{text}狗"


@pytest.mark.parametrize(
    "text", ["", "A dog.", "개가 달린다", "Oh 😀", "หมาวิ่ง", "कुत्ता।", "“So.”", '"', "Linux"]
)
def test_all_others_have_a_space_before_the_next(text):
    assert not closes_up(text) and join_texts([text, "", "b"]) == f"{text} b".strip()
