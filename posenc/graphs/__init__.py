"""Nodes of graphs and trees, which have no order to count along."""
