"""`python -m shoe_controller`: the program, where its script is not on the path."""

import sys

from shoe_controller.cli import main

sys.exit(main())
