"""Print a script with which a shell completes commands, options, games and files of this program.

Written from the program's own commands and options, so it is complete. 'make install' puts it where bash, zsh and fish
look for it; the examples do it for one user or one session.
"""

import argparse

EXAMPLES = """\
  source <(shoe-controller completion bash)
  shoe-controller completion zsh > ~/.zfunc/_shoe-controller
  shoe-controller completion fish > ~/.config/fish/completions/shoe-controller.fish"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `completion`."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell that shall complete")


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    from shoe_controller.cli.outline import outline  # noqa: PLC0415 - loads every command
    from shoe_controller.cli.shells import completion_script  # noqa: PLC0415
    from shoe_controller.rules.games import load_all  # noqa: PLC0415

    print(completion_script(args.shell, outline(), load_all()), end="")
    return 0
