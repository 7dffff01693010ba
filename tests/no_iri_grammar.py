"""A pytest plugin that keeps a package out which builds a grammar for a second whenever it is imported.

What checks the form of notebooks would check internationalized addresses by it, and does without; no notebook has one.
"""

import sys
from typing import Any, cast

sys.modules.setdefault("rfc3987_syntax", cast(Any, None))
