"""Status records, meters, log lines of transitions, the watch over the event loop, and log set-up."""
