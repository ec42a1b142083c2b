"""Status records, meters, the log lines of transitions, the watch over the event loop, log set-up."""
