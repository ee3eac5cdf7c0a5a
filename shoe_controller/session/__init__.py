"""What happens at a table and what it means: inputs in, facts out."""
