"""Files: what comes in from people's disks, and what goes out to them."""
