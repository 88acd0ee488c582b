"""`fused_adam`: fairseq's Adam with PyTorch's kernel, which reads and writes each weight once."""

import math
from collections import defaultdict
from collections.abc import Callable

import torch
from fairseq.optim import register_optimizer
from fairseq.optim.adam import Adam, FairseqAdam, FairseqAdamConfig
from torch import Tensor
from torch.optim.adamw import adamw


class OnePassAdam(Adam):
    """fairseq's Adam, to rounding, and its state to the letter; weights that are not float32 are left to
    it.
    """

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:
        """One update by the gradients there are. Returns the loss of `closure` (a scalar), if given."""
        weights = [
            weight for group in self.param_groups for weight in group["params"] if weight.grad is not None
        ]
        if any(weight.dtype is not torch.float32 for weight in weights):
            return super().step(closure)
        loss = None if closure is None else closure()
        for group in self.param_groups:
            for step, alike in self.group_by_step(group["params"]).items():
                self.update(alike, step, group)
        return loss

    def group_by_step(self, weights: list[Tensor]) -> dict[int, list[Tensor]]:
        """Weights, of any shape, that have a gradient, by the number of their next update."""
        alike: dict[int, list[Tensor]] = defaultdict(list)
        for weight in weights:
            if weight.grad is not None:
                state = self.state[weight]
                if not state:
                    state.update(
                        step=0, exp_avg=torch.zeros_like(weight), exp_avg_sq=torch.zeros_like(weight)
                    )
                state["step"] += 1
                alike[state["step"]].append(weight)
        return alike

    def update(self, weights: list[Tensor], step: int, group: dict) -> None:
        """Update weights, of any shape, in place, for the `step`-th time.

        fairseq adds epsilon to the root of the second moment before the latter's bias is corrected, PyTorch
        after.
        """
        beta1, beta2 = group["betas"]
        states = [self.state[weight] for weight in weights]
        steps = torch.full((len(weights),), step - 1.0, device=weights[0].device)  # one transfer for all
        with torch.no_grad():
            adamw(
                weights,
                [weight.grad for weight in weights],
                [state["exp_avg"] for state in states],
                [state["exp_avg_sq"] for state in states],
                max_exp_avg_sqs=[],
                state_steps=[*steps.unbind()],
                fused=True,
                amsgrad=False,
                beta1=beta1,
                beta2=beta2,
                lr=group["lr"],
                weight_decay=group["weight_decay"],
                eps=group["eps"] / math.sqrt(1 - beta2**step),
                maximize=False,
            )


@register_optimizer("fused_adam", dataclass=FairseqAdamConfig)
class FusedAdam(FairseqAdam):
    """fairseq's `adam` with the same options and checkpoints; where fairseq has a fused one, on a GPU with
    apex, that one.
    """

    def __init__(self, cfg: FairseqAdamConfig, params: list[Tensor]) -> None:
        super().__init__(cfg, params)
        self._optimizer: torch.optim.Optimizer
        if type(self._optimizer) is Adam:
            self._optimizer = OnePassAdam(self._optimizer.param_groups)


# fairseq goes on with a run only if its optimiser has the same name
FusedAdam.__name__ = FairseqAdam.__name__
