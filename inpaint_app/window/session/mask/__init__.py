"""What changes the mask of a session, and what follows it: edits, found damage, healing, hints."""
