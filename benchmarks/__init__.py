"""Speed and quality against peers, measured as ratios within one run."""
