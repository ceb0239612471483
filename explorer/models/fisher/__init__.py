"""What the Fisher map shows: the score over all intervals, its optimum over ε, and the Monte Carlo estimate."""
