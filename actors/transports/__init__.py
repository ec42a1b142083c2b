"""The only modules that touch the network on behalf of sources."""
