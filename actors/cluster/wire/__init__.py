"""The wire format of a cluster: commits, and state that its processes store for each other."""
