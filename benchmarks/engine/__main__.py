"""`python -m benchmarks.engine`."""

from benchmarks.engine.command import main

main()
