"""Non-local refinement: the missing pixels of a patch are estimated from similar patches."""
