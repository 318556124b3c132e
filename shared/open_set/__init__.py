"""Open-set recognition: macro_open_f, micro_open_f and openauc."""
