"""Words and numbers that all front ends share; each fact stands once."""
