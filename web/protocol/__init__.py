"""HTTP without odds: problem documents, negotiation, query strings, prepared answers, Quart's set-up."""
