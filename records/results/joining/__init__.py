"""What the join of results to items is made of; ``records.results.join`` puts it together."""
