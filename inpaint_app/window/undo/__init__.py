"""What the user changed, step by step, undone and redone."""
