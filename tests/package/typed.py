"""Calls that `make lint` checks, and nothing runs: mypy complains of each `type: ignore` that ignores no error."""

from shared import OODBench, OpenAUC

OpenAUC(tpr=0.9, fpr_list=[0.1], confidence_level=0.95)
OODBench(metrics=["auroc"], in_value="rest", out_value=1)
OpenAUC(tpt=0.9)  # type: ignore[call-arg]
OpenAUC(tpr="high")  # type: ignore[arg-type]
OODBench(positive=1)  # type: ignore[arg-type]
_ = OpenAUC().tpr + ""  # type: ignore[operator]
