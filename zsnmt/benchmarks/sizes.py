"""Sizes of the models that are measured."""

SHARE = 0.5  # of the words, which are the pieces of the target language where a mask is measured

SIZES = {
    "paper": dict(
        encoder_layers=5, decoder_layers=5, width=512, feed_forward=2048, heads=8, vocabulary=18_900
    ),
    "middle": dict(
        encoder_layers=5, decoder_layers=5, width=256, feed_forward=1024, heads=4, vocabulary=6_000
    ),
    "demo": dict(encoder_layers=5, decoder_layers=2, width=128, feed_forward=512, heads=4, vocabulary=1_000),
}


def stock_options(size: dict, dropout: float = 0.2) -> dict:
    """Options of one size for any transformer of fairseq, with the paper's dropout unless told."""
    sides: dict[str, int] = {}
    for side in ("encoder", "decoder"):
        sides |= {
            f"{side}_layers": size[f"{side}_layers"],
            f"{side}_embed_dim": size["width"],
            f"{side}_ffn_embed_dim": size["feed_forward"],
            f"{side}_attention_heads": size["heads"],
        }
    rates = dict.fromkeys(("dropout", "attention_dropout", "activation_dropout"), dropout)
    return dict(**sides, **rates, share_all_embeddings=True)
