"""Polymarket: a prediction market, polled; one public API has matches, another order books."""
