"""Load the plugin that makes the chapters tests.

It stands here because pytest asks a conftest.py only about files beneath it, and chapters/ lies beside tests/.
"""

pytest_plugins = ["notebooks"]
