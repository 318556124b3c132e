"""Write results and boxes to files, completely or not at all."""
