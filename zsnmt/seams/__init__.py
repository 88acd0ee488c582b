"""The seams of a model: what is optional in it, one file per option or family of options.

A seam is a place where fairseq's layer or stack takes another module, or one more. All of them are neutral
until they are filled, so that a model's initial weights do not depend on them. A file has

- `add_options(add)`: the options, with a help line each (`add` is `ArgumentParser.add_argument`);
- `DEFAULTS`: what leaves the seam neutral, or as the baseline of Liu et al. (2021) has it;
- `fill(model, args, task)`: does what the options say, once fairseq has built the model; raises `InputError`
  for what does not go together.

`zsnmt/models/zs_transformer.py` lists them in the order in which they are filled.
"""
