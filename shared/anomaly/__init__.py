"""Industrial anomaly detection: anomaly_suite."""
