"""What a model is shown: the assembly under a token budget, the short-term window, the evidence in view."""
