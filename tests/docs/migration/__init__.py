"""Where people come from: their own calls beside ours, row by row of docs/coming-from.md, and where the numbers differ.

Theirs run where they are installed; all of them do with `pip install --no-deps` of ADEval, anomalib, osr-metrics,
pytorch-ood, tidecv, torch-uncertainty and torchvision into the environment of the tests, and of what they import.
"""
