"""Rules and games in JavaScript: the translator, its scripts, and NumPy's random numbers in a page."""
