"""Results and boxes as files, written whole or not at all."""
