"""True and predicted boxes: COCO, YOLO, Pascal VOC, and dicts of tensors."""
