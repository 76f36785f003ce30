"""The same examples in every run, and no wall clock in the verdict: the machine may be shared."""

from hypothesis import settings

settings.register_profile("deterministic", deadline=None, derandomize=True)
settings.load_profile("deterministic")
