"""From pieces of text to token ids with language tags, as fairseq data sets."""
