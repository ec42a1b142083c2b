"""The kind `program`: a child process, in any language, that prints lists as lines of JSON."""
