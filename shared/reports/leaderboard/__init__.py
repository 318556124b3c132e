"""Tables of many models: their order, ranks, and the models that do not differ from the best."""
