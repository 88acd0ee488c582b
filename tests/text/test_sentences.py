import pytest

from zsnmt.text.sentences import holds_several


@pytest.mark.parametrize(
    "line, expected",
    [
        ("The dog runs. The cat sleeps.", True),
        ("Kommt er wirklich? „Ja, bald.“", True),
        ("一只狗在跑。猫在睡觉。", True),
        ("कुत्ता दौड़ता है। बिल्ली सोती है।", True),
        ("The dog runs.", False),
        ("Mr. Smith met Dr. Jones in St. Ives.", False),
        ("It costs 3.50 in Germany, about. or so", False),
        ("一只狗在跑。", False),
        ("", False),
    ],
)
def test_a_line_of_several_sentences_is_noticed(line, expected):
    assert holds_several(line) is expected
