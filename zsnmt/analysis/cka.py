"""Linear centred kernel alignment of sentence vectors (CKA; Kornblith et al. 2019): a similarity that needs
no cut.

It compares which sentences are near which, weighs directions by their variance, and asks for no more
sentences than dimensions.
"""

import numpy as np
from numpy.typing import ArrayLike

from zsnmt.analysis.arrays import centre, check_same_sentences
from zsnmt.errors import InputError

ROUNDING = 1e-12  # what is left of a sum whose parts cancel, relative to the parts


def linear_cka(one: ArrayLike, other: ArrayLike, debiased: bool = False) -> float:
    """‖XᵀY‖² / (‖XᵀX‖ ‖YᵀY‖) of centred states N×d and N×d'; 1 for states equal up to rotation, scale and
    shift.

    The range is 0–1. Independent isotropic states do not give 0 but about √(dd' / ((N+d)(N+d'))): .31 for
    N=1147 and d=d'=512. `debiased` puts the unbiased estimate of HSIC (Song et al. 2012; for CKA Nguyen et
    al. 2021) in place of each squared norm: the range is then -1 to 1, and independent states give about 0
    for any N and d. No N×N matrix is made.

    Raises InputError for different N, too few or equal sentences, states not N×d and numbers not finite.
    """
    one, other = centre(one), centre(other)
    sentences = check_same_sentences(one, other)
    if debiased and sentences < 4:
        raise InputError(f"debiased CKA needs 4 sentences or more, not {sentences}")
    product = unbiased_product if debiased else gram_product
    own = [product(states, states) for states in (one, other)]
    if any(norm <= ROUNDING * gram_product(states, states) for norm, states in zip(own, (one, other))):
        raise InputError(
            "debiased CKA is not defined where all sentences are equally far from each other; give "
            "other states"
        )
    return float(product(one, other) / np.sqrt(own[0] * own[1]))


def gram_product(one: np.ndarray, other: np.ndarray) -> float:
    """‖XᵀY‖² in the Frobenius norm: the inner product of the Gram matrices XXᵀ and YYᵀ, HSIC up to a
    factor.
    """
    return float(np.linalg.norm(one.T @ other) ** 2)


def unbiased_product(one: np.ndarray, other: np.ndarray) -> float:
    """The unbiased HSIC of centred states times N(N-3).

    Rows of centred Gram matrices sum to 0, so all that their diagonals add is known from the squared
    lengths of the sentence vectors.
    """
    sentences = len(one)
    lengths, other_lengths = (np.einsum("nd,nd->n", states, states) for states in (one, other))
    return (
        gram_product(one, other)
        - sentences / (sentences - 2) * (lengths @ other_lengths)
        + lengths.sum() * other_lengths.sum() / ((sentences - 1) * (sentences - 2))
    )
