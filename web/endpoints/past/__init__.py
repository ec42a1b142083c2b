"""The endpoints of how prices moved: lines of entries and fixtures, closing prices, moves."""
