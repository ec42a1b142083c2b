"""Configuration and composition: settings, the registry of kinds, the supervision tree, record and replay.

Only the command line (`web/__main__.py`) imports from here.
It is the one place that knows all packages of the actors; it must not know the web.
"""
