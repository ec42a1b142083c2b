"""The consolidated state, pure: the changes of a batch, snapshots and their history."""
