"""The kinds of source, one package a venue."""
