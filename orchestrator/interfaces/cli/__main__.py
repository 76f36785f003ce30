"""Run the command line with `python -m orchestrator.interfaces.cli`."""

from orchestrator.interfaces.cli.app import main

if __name__ == "__main__":
    main()
