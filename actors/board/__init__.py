"""The consolidated state, pure: what a batch changes, snapshots, their history."""
