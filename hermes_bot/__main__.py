"""Makes ``python -m hermes_bot`` the same as ``hermes-bot``."""

from hermes_bot.cli import main

if __name__ == "__main__":
    main()
