"""What every command needs of the terminal: streams, interruptions, tables, exit codes."""
