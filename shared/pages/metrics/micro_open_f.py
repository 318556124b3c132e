"""The page of micro_open_f."""

from __future__ import annotations

from ...open_set.open_f_metrics import MicroOpenF
from ..page import Example, rows
from .open_f import CLASS_IDS, open_f_page

PAGE = open_f_page(
    MicroOpenF,
    "Are known classes recognised and unknown samples rejected, each sample counting the same?",
    "micro",
    Example(
        "Scores of five classes, three of ten samples known",
        (
            rows("""
                class 0, class 1, class 2, class 3, class 4, references, open_scores, open_labels
                0.22505163, 0.56565412, 0.4587647, 0.30046217, 0.25092002, 1, 0.58096977, 1
                0.77524922, 0.18918122, 0.51540363, 0.22983436, 0.38370275, 0, 0.72253053, 1
                0.86520307, 0.60817761, 0.4678875, 0.93207612, 0.21062528, 0, 0.97245012, 1
                0.81050332, 0.20231395, 0.26201179, 0.09741689, 0.91836598, 4, 0.10536401, 0
                0.80361421, 0.86571197, 0.41565162, 0.98073268, 0.51166106, 1, 0.92602635, 1
                0.10264231, 0.49819469, 0.52019938, 0.58886308, 0.61867914, 3, 0.23475404, 0
                0.23672743, 0.28810752, 0.34941579, 0.64526916, 0.97516705, 0, 0.78746598, 1
                0.8195246, 0.31829393, 0.31659231, 0.21084115, 0.59936089, 4, 0.16379799, 1
                0.63162671, 0.82508019, 0.05080957, 0.88448093, 0.32695938, 3, 0.0078515, 0
                0.16358325, 0.31049377, 0.26492354, 0.94893459, 0.21349402, 0, 0.70920022, 1
            """),
        ),
        {"t_list": (0, 2, 0.4, 0.6, 0.8)},
    ),
    Example(
        "Class ids, every threshold",
        (CLASS_IDS,),
    ),
)
