"""Runs of a session: started, previewed, kept, measured, and looked at again."""
