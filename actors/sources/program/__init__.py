"""The kind `program`: a process of ours, in any language, that prints lists as lines of JSON."""
