"""Out-of-distribution detection: ood_bench."""
