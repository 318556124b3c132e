"""Results as a terminal shows them: a row a metric, three decimals, intervals beside their numbers."""
