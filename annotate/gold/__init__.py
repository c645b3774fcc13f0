"""Gold labels: read, joined to items, and held against annotations."""
