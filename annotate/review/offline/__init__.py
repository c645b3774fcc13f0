"""Review without a server: a page and a sheet, and reading them back."""
