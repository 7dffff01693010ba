"""The engine: games played compiled, or round by round, and the check of a policy."""
