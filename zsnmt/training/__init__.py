"""What is trained on and compared: binarised data, and the systems of studies."""
