"""The tokenizer of a model whose text is cut at punctuation, by the rules of Moses or IndicNLP, before it is
cut into subwords.
"""

import tempfile
from functools import cache
from pathlib import Path

from zsnmt.inference.export.huggingface.remote.tokenization_zsnmt import ZsnmtTokenizer
from zsnmt.text.tokenisation import Tokeniser, load_tokeniser


class ZsnmtRulesTokenizer(ZsnmtTokenizer):
    """It needs sacremoses and indic-nlp-library."""

    @cache  # noqa: B019 (a tokenizer lives as long as its program)
    def rules(self, language: str) -> Tokeniser | None:
        """The tokeniser of a language; None where its text is left as it is."""
        kind = self.text["tokenisation"].get(language)
        if kind is None:
            return None
        with tempfile.TemporaryDirectory() as folder:  # truecasers are read from files
            truecaser = Path(folder) / "truecaser"
            truecaser.write_text(self.text["truecasers"].get(language, ""), encoding="utf-8")
            return load_tokeniser(kind, language, truecaser)

    def tokenise(self, text: str, language: str) -> str:
        rules = self.rules(language)
        return rules.tokenise(text) if rules else text

    def detokenise(self, text: str, language: str) -> str:
        rules = self.rules(language)
        return rules.detokenise(text) if rules else text
