"""Status records, meters, the log lines of transitions, the watch over the event loop, log set-up.

Actors write their own record; probes and pages of the web read `status` and `meter`.
It must not know how anything is fetched, decoded or served.
"""
