"""The configuration of a zsnmt model: that of M2M100, and which seams are filled."""

from transformers import M2M100Config


class ZsnmtConfig(M2M100Config):
    """The defaults are those of M2M100.

    A list has a value for each layer, or is empty for what is so in none. Without annotations, as transformers
    5 would make fields of them, and without a method to set them, as what is given becomes an attribute.
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
    encoder_attention_residuals = []  # of layers: "keep", "remove" or "mean_pool"
    encoder_feed_forward_residuals = []
    encoder_position_queries = []  # of layers: the base of the sinusoids, or null
    encoder_position_bias = None  # TUPE: "absolute" or "relative"
    encoder_position_bias_layers = []  # of layers: whether they have it
    encoder_relative = []  # of layers: the arguments of `relative_positions`, or null
    decoder_relative = []
    language_embedding = "none"  # or "add", or "concat"
    language_tags = []  # ids of the tags of the languages, in the order of tables
    vocabulary_sizes = []  # of stages of a vocabulary that grew; a language writes that of its stage
    encoder_target_language = None  # tokens before the target's tag, which only some layers are told
    encoder_told_layers = []  # of layers: whether they are
    decoder_language_feed_forward = []  # of layers: tags and width of languages' blocks, or null
    decoder_adapters = None  # tags and width of languages' adapters
