"""The wire format of a cluster: what its processes commit, and what they keep for each other."""
