"""The kind `table`: a CSV file or JSON lines, whose columns the configuration names."""
