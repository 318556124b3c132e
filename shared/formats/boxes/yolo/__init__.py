"""YOLO's text files, their lines, and data.yaml."""
