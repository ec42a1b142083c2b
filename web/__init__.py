"""From the published snapshot to the client: the HTTP front end, and the command line.

It reads snapshots, history and status records of the actors, and changes nothing of theirs.
"""
