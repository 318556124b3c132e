"""Check the recipe for conda-forge and write it with the hash of a source distribution, for `make check-dist`.

python packaging/recipe.py dist/openworld_metrics-0.2.0.tar.gz    writes dist/recipe.yaml; needs py-rattler-build
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path


def main(source: Path) -> None:
    """Read and render the recipe as rattler-build does, which raises where it is wrong."""
    from rattler_build import Stage0Recipe, VariantConfig

    text = Path(__file__).with_name("recipe.yaml").read_text(encoding="utf-8")
    written = source.with_name("recipe.yaml")
    written.write_text(text.replace("0" * 64, hashlib.sha256(source.read_bytes()).hexdigest()), encoding="utf-8")
    for variant in Stage0Recipe.from_file(written).render(VariantConfig()):
        print(
            f"{written}: {variant.recipe.package.name} {variant.recipe.package.version} can be built by rattler-build"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
