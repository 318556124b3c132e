"""Run the command openworld-metrics as `python -m openworld_metrics`."""

from .command.cli import main

if __name__ == "__main__":
    main()
