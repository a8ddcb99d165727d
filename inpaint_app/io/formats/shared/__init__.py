"""What several formats share."""
