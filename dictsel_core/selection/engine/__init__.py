"""What selectors share: supports and their fits, the loop of algorithm 1, gains and costs of replacements."""
