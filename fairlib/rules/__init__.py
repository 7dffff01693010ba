"""Rules: what a rule may ask for, and how it becomes machine code."""
