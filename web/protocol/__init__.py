"""HTTP, without knowledge of odds: problems, negotiation, query strings, answers, Quart's set-up."""
