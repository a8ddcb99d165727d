"""First estimate: a dictionary selected on the patches of an image, and its patches coded, coarse to fine."""
