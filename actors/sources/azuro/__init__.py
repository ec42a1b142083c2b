"""Azuro: an on-chain bookmaker; games, conditions and their odds from one public API, polled."""
