"""The page of macro_open_f."""

from __future__ import annotations

from ...open_set.open_f_metrics import MacroOpenF
from ..page import Example, rows
from .open_f import CLASS_IDS, open_f_page

PAGE = open_f_page(
    MacroOpenF,
    "Are known classes recognised and unknown samples rejected, each class counting the same?",
    "macro",
    Example(
        "Scores of five classes, half of the samples unknown",
        (
            rows("""
                class 0, class 1, class 2, class 3, class 4, references, open_scores, open_labels
                0.94476045, 0.31232958, 0.7594962, 0.5459496, 0.11673619, 1, 0.43159292, 0
                0.40129684, 0.46983343, 0.59049727, 0.02780379, 0.39378312, 0, 0.54486159, 1
                0.09031484, 0.39312287, 0.7456237, 0.68701889, 0.6515781, 2, 0.71308451, 0
                0.96727651, 0.32777401, 0.31835944, 0.32121615, 0.60035559, 2, 0.32513637, 0
                0.12668534, 0.74379642, 0.67996953, 0.0638046, 0.93851802, 3, 0.33009744, 0
                0.85612227, 0.81200387, 0.71530705, 0.56665163, 0.3869682, 3, 0.01605909, 1
                0.35571454, 0.52809497, 0.80250131, 0.65778885, 0.01543388, 2, 0.32385449, 1
                0.45475614, 0.64144596, 0.37641412, 0.54375577, 0.80926811, 4, 0.34015317, 0
                0.234557, 0.84534896, 0.25663904, 0.57333292, 0.1715498, 2, 0.31708952, 1
                0.97534425, 0.86363475, 0.79658496, 0.98944572, 0.01503485, 1, 0.51067112, 1
            """),
        ),
    ),
    Example(
        "Class ids, two thresholds",
        (CLASS_IDS,),
        {"t_list": (0.1, 0.4)},
    ),
)
