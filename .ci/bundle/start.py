"""The start of the unpacked program: the window, or the command line if it is called as `inpaint`."""

import sys
from pathlib import Path

if __name__ == "__main__":
    if Path(sys.argv[0]).stem == "inpaint":
        from inpaint_app.cli import main
    else:
        from inpaint_app.launch import main
    sys.exit(main())
