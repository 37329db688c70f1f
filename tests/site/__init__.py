"""The built site: its files, its scripts, and its pages in real browsers."""
