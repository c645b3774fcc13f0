"""Review in Argilla: datasets made, records pushed, responses pulled."""
