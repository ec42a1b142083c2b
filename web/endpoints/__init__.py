"""The endpoints, one module per path or group of paths."""
