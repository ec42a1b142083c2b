"""The actors between transport and published snapshot: sources, bookmakers, the aggregator.

The service puts them together; recordings use what they share (`fanout`, `stream_feed`).
They must not know the web, the configuration file or a particular venue.
"""
