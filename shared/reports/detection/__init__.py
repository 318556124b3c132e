"""The report of detections: one HTML file with numbers, fates of the objects, the worst images and all classes."""
