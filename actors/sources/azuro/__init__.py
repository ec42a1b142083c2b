"""Azuro: an on-chain bookmaker, polled; one public API gives games, conditions and odds."""
