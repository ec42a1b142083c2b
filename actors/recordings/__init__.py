"""Recordings: their format, reading them back, and playing them through the same decoders.

The service records and replays; the kind `replay` plays a recording as a source.
They must not know the web or the configuration file.
"""
