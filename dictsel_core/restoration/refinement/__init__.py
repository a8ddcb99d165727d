"""Refinement: similar patches predict each other's missing pixels, round by round."""
