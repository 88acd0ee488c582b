"""What current PyTorch and the maintained fork of fairseq (0.12.3.1) need from each other.

Each function is one repair: its docstring says what breaks without it, and
tests/test_compatibility.py holds a test that fails without it. Importing this package applies all.
"""

from zsnmt.compatibility.checkpoints import (
    choose_by_figures_of_the_task,
    copy_checkpoints_whole,
    copy_checkpoints_without_assertions,
    count_patience_over_stops,
    give_tasks_their_state_back,
)
from zsnmt.compatibility.ending import (
    leave_the_others_at_the_end,
    save_before_ending,
    say_refusals_in_a_sentence,
    train_no_further,
)
from zsnmt.compatibility.options import (
    allow_namespaces_in_checkpoints,
    give_each_transformer_its_own_options,
    read_options_without_running_them,
)
from zsnmt.compatibility.updates import (
    count_batches_beside_empty_ones,
    leave_the_compiler_unloaded,
    make_no_batches_beforehand,
    move_only_meters_behind_a_new_one,
    prepare_no_attention_for_each_shape,
    read_no_text_beforehand,
)

allow_namespaces_in_checkpoints()
read_options_without_running_them()
give_each_transformer_its_own_options()
copy_checkpoints_whole()
copy_checkpoints_without_assertions()
give_tasks_their_state_back()
count_patience_over_stops()
choose_by_figures_of_the_task()
count_batches_beside_empty_ones()
move_only_meters_behind_a_new_one()
leave_the_others_at_the_end()
save_before_ending()
train_no_further()
leave_the_compiler_unloaded()
read_no_text_beforehand()
make_no_batches_beforehand()
prepare_no_attention_for_each_shape()
say_refusals_in_a_sentence()
