"""The configuration of a zsnmt model: that of M2M100, and which seams are filled."""

from typing import Any

from transformers import M2M100Config

ABSENT: Any = None
OF_LAYERS: Any = ()
OF_LANGUAGES: Any = ()


class ZsnmtConfig(M2M100Config):
    """The defaults are those of M2M100.

    `OF_LAYERS` has a value for each layer, or none where it is so in none. Attributes have no annotations,
    of which transformers 5 would make fields; what is given when a configuration is made takes their place.
    """

    model_type = "zsnmt"
    normalization = "pre"  # before each block, or "post"
    layernorm_embedding = False  # whether the input of both stacks is normalised
    decoder_final_norm = True  # with "pre"
    encoder_positions = "sinusoidal"  # in the input: or "learned", or "none"
    decoder_positions = "sinusoidal"
    separate_embeddings = False  # whether encoder and decoder have a table each
    max_source_positions = 1024
    max_target_positions = 1024
    encoder_attention_residuals = OF_LAYERS  # of layers: "keep", "remove" or "mean_pool"
    encoder_feed_forward_residuals = OF_LAYERS
    encoder_position_queries = OF_LAYERS  # of layers: the base of the sinusoids, or null
    encoder_position_bias = ABSENT  # TUPE: "absolute" or "relative"
    encoder_position_bias_layers = OF_LAYERS  # of layers: whether they have it
    encoder_relative = OF_LAYERS  # of layers: the arguments of `relative_positions`, or null
    decoder_relative = OF_LAYERS
    language_embedding = "none"  # or "add", or "concat"
    language_tags = OF_LANGUAGES  # ids of the tags of the languages, in the order of tables
    vocabulary_sizes = (
        OF_LANGUAGES  # of stages of a vocabulary that grew; a language writes that of its stage
    )
    encoder_target_language = ABSENT  # tokens before the target's tag, which only some layers are told
    encoder_told_layers = OF_LAYERS  # of layers: whether they are
    decoder_language_feed_forward = OF_LAYERS  # of layers: tags and width of languages' blocks, or null
    decoder_adapters = ABSENT  # tags and width of languages' adapters
