"""README, documentation, cards and demo run as they stand."""
