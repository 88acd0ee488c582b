"""The multilingual score of a bilingual masked LM (Dufter and Schütze 2020; Ravishankar and Søgaard 2021,
section 4).
"""

from collections.abc import Mapping

from zsnmt.errors import InputError


def ml_score(retrieval: Mapping[str, float], translation: Mapping[str, float]) -> float:
    """The mean, 0–1, of sentence retrieval and word translation at two layers: four P@1, each the mean of
    both ways.

    Layers are the mappings' keys, 0 and 8 in the papers; word translation is `retrieval` of the vectors of
    single words. Raises InputError where the two layers of one are not those of the other, and for shares
    outside 0–1.
    """
    if len(retrieval) != 2 or retrieval.keys() != translation.keys():
        raise InputError(
            f"retrieval at the layers {list(retrieval)} and translation at {list(translation)} make no "
            f"multilingual score; measure both at the same two layers, such as 0 and 8"
        )
    shares = [*retrieval.values(), *translation.values()]
    if not all(0 <= share <= 1 for share in shares):
        raise InputError(f"P@1 of {shares} are not all shares; give numbers from 0 to 1")
    return sum(shares) / 4
