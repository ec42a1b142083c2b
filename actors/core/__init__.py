"""Values that travel between the parts of the service, errors, time, and the integrity gate."""
