"""Several machines with one board: collectors commit through a Redis server, replicas show the result."""
