"""Object detection with unknown objects: openset_detection."""
