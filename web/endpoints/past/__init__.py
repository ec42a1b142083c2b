"""The endpoints for movements of prices: lines, closing prices, moves."""
