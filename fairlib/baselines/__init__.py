"""Policies that make no promise: UCB1 and Thompson sampling on arms, LinUCB and others with contexts."""
