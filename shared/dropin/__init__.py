"""The calls of other libraries under their own names: one import changes, and nothing else.

    from openworld_metrics.dropin.xcurve import OpenAUC            # from XCurve.Metrics import OpenAUC
    from openworld_metrics.dropin.oodeel import bench_metrics      # from oodeel.eval.metrics import bench_metrics

Each module has a library's names, parameters, defaults and keys; the numbers are those of this package.
"""
