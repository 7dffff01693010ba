"""Many runs: sweeps and their stores, statistics of runs, and replay of logs."""
