"""Games that run in a page: rules in JavaScript, NumPy's random numbers, and explorers that simulate where they are."""
