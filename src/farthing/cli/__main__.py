"""``python -m farthing.cli`` is ``farthing``."""

from farthing.cli import main

if __name__ == "__main__":
    main()
