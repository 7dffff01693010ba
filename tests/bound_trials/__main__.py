"""Print what the last trials of each bound found."""

from collections import Counter

import numpy as np

from bound_trials import LINES, read

for name in LINES:
    rows = [row for row in read() if row["bound"] == name]
    words = Counter(row["word"] for row in rows)
    tight = [float(row["tightness"]) for row in rows if row["word"] not in ("vacuous", "unplayed")]
    said = ", ".join(f"{number} {word}" for word, number in words.items())
    print(f"{name:28} {said:20} tightness", f"{np.median(tight):.2g}, at most {max(tight):.2g}" if tight else "-")
