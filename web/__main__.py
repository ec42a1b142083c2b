"""`python -m web` is the command line."""

from web.cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
