"""One module a path: odds, changes, stream, capabilities, probes, monitor, pages."""
