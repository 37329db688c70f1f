"""How `posenc.read_config` reads a configuration, and how `python -m posenc config` explains it.

reading.py   a configuration, from its first key to the last
keys.py      the keys that are read, and those that are refused
layers.py    which part of it is about which layers
head.py      the widths of a head and of what is rotated in it
rule.py      the base, the lengths and the rule of the frequencies
families.py  what is known about the model types of transformers
entries.py   typed entries, each named in errors by where it stands
explain.py   what a configuration does, in words and in numbers
"""
