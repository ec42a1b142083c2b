"""The parts of a service that `oddsboard serve` runs."""
