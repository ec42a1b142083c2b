"""Several machines with one board: what collectors commit through a Redis server, and replicas show."""
