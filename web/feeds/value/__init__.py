"""Makes the lists of values, and notes what changes in them, from the newest boards at each request."""
