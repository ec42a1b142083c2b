"""The kind `table`: a CSV file or JSON lines with configured columns."""
