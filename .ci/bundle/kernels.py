"""Compile the kernels of an unpacked program beforehand: `python kernels.py FOLDER_OF_DICTSEL_CORE`.

Pictures of every kind are restored in small, once for each kind of processor, with the sources of the program
itself, so that the machine code lies beside them and is found by the program.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent


def compile_all(package: Path) -> None:
    """Compile in one process for each kind of processor."""
    sys.path.insert(0, str(HERE))
    import processor

    own = processor.level()
    levels = list(processor.LEVELS) if own in processor.LEVELS else [own] if own else []
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "dictsel_core").symlink_to(package.resolve())
        for level in levels:
            environment = os.environ | {"PYTHONPATH": folder, "NUMBA_CPU_NAME": level}
            environment["NUMBA_CPU_FEATURES"] = processor.features(level)
            print(f"Compiling the kernels for {level}.", flush=True)
            subprocess.run([sys.executable, "-P", __file__, "--here"], env=environment, check=True)


def restore_everything() -> None:
    """Restore pictures of every kind, in small."""
    import numpy as np

    from inpaint_app.cli import main

    rng = np.random.default_rng(0)
    rows, columns = np.ogrid[:112, :128]
    gray = 0.5 + 0.3 * np.sin(rows / 7) * np.cos(columns / 9) + 0.05 * rng.random((112, 128))
    color = np.stack([gray, gray**2, np.sqrt(gray)], axis=2)
    scattered = rng.random(gray.shape) < 0.6
    line = np.abs(rows - columns) < 3
    hole = line | ((np.abs(rows - 56) < 14) & (np.abs(columns - 64) < 14))
    with tempfile.TemporaryDirectory() as folder:

        def run(*words: str) -> None:
            if main(["restore", *words, "-o", f"{folder}/out.npy", "--overwrite", "--quiet"]):
                raise SystemExit(f"inpaint restore {' '.join(words)} failed.")

        for name, mask in {"scattered": scattered, "line": line, "hole": hole}.items():
            np.save(f"{folder}/{name}.npy", mask)
        for kind, scale in {"u1": 255, "u2": 65535, "f4": 1, "f8": 1}.items():
            for name, image in {"gray": gray, "color": color}.items():
                path = f"{folder}/{name}_{kind}.npy"
                np.save(path, (scale * image).astype(kind))
                for mask in ("scattered", "line", "hole"):
                    run(path, "--mask", f"{folder}/{mask}.npy")
        for preset in ("fast", "best", "paper"):
            run(f"{folder}/color_u1.npy", "--mask", f"{folder}/scattered.npy", "--preset", preset)
        run(f"{folder}/gray_u1.npy", "--mask", f"{folder}/line.npy", "--auto", "--constraint=average")


if __name__ == "__main__":
    if sys.argv[1:] == ["--here"]:
        restore_everything()
    else:
        compile_all(Path(sys.argv[1]))
