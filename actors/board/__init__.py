"""The consolidated state: what a batch changes, what is withdrawn when, snapshots and their history.

The aggregator and replays apply batches; the web reads `snapshot` and `history`.
Pure: it must not know actors, transports or the loop, and it never reads a clock.
"""
