"""Compare many models in a table: order, ranks, and the models that do not differ from the best."""
