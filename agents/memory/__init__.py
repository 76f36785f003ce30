"""Long-term memory: what is kept over runs, how it is found, and what is never kept."""
