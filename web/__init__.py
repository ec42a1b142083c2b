"""From the published snapshot to the client: the HTTP front end and the command line."""
