"""What a table of many models needs: an order, ranks, and which of them do not differ from the best."""
