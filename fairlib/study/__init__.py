"""Many runs: sweeps and their stores, statistics of runs, replay and evaluation of logs."""
