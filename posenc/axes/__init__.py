"""More than one axis: images, video, and coordinates that are not whole numbers."""
