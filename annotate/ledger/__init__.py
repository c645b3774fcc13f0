"""The ledger: what every annotator gave, append-only, and what of it counts today."""
