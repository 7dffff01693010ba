"""Another checkout's policies on our games, in a process of its own: what ``--against`` compares with."""

import json
import sys
import time

from games import setting

import fairlib as fl

ready = {}
for line in sys.stdin:
    request = json.loads(line)
    name, rounds = request["name"], request["rounds"]
    answer = None
    try:
        if name not in ready:
            ready[name] = setting(name, rounds=10**7)
            fl.simulate(*ready[name], 3)
        start = time.process_time()
        fl.simulate(*ready[name], rounds, seed=1, rounds=[rounds])
        answer = time.process_time() - start
    except (KeyError, AttributeError, TypeError):  # it has no such policy
        answer = None
    print(json.dumps(answer), flush=True)
