"""Checks of the built book in a browser, on paper and in JupyterLab, and of the tools that run the chapters."""
