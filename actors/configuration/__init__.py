"""Files of options: how they are read, and what errors in them say."""
