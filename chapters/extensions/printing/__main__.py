"""Make the PDF and the EPUB: ``python -m printing``, in the folder of the project."""

from pathlib import Path

from printing import main

if __name__ == "__main__":
    main(Path("_build/html").resolve(), Path("_build/print").resolve())
