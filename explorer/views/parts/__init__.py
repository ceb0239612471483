"""What tabs are made of: plots, controls, texts, downloads; and all work-arounds for Panel in one file."""
