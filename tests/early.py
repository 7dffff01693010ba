"""A pytest plugin for what other packages look at when they are imported, so that it is loaded before them.

Workers, kernels and other processes that the tests start inherit the settings.
"""

import os
import sys
from typing import Any, cast

# A package that builds a grammar for a second whenever it is imported. What checks the form of notebooks would check
# internationalized addresses by it, and does without; no notebook has one.
sys.modules.setdefault("rfc3987_syntax", cast(Any, None))

# NumPy's and SciPy's linear algebra would otherwise begin a thread on each processor for each of these processes, of
# which there is one on each processor already: they wait for each other, and matrices here are small.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
