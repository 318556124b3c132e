"""Credits of scikit-learn's two photographs: their authors and licence, for all places that show parts of them."""

LICENCE = "https://creativecommons.org/licenses/by/2.0/"
PHOTOGRAPHS = {
    "flower.jpg": ("vultilion", "https://www.flickr.com/photos/vultilion/6056698931/"),
    "china.jpg": ("danielbuechele", "https://www.flickr.com/photos/danielbuechele/6061409035/"),
}
LINE = "Photographs: parts of " + " and ".join(f"{file} by {author}" for file, (author, _) in PHOTOGRAPHS.items())
LINE += " (Flickr), CC BY 2.0, with defects added"


def notice(*files: str) -> str:
    """A credits file in Markdown for images made from these photographs."""
    by = {file: f"[{PHOTOGRAPHS[file][0]}]({PHOTOGRAPHS[file][1]})" for file in files}
    lines = [f"- `{file}`, by {author}, [CC BY 2.0]({LICENCE})" for file, author in by.items()]
    return "\n".join(
        [
            "# Credits",
            "",
            "The images are parts of photographs that scikit-learn ships:",
            "",
            *lines,
            "",
            "They were cropped and shifted, noise was added, and defects were drawn into some of them.",
            "",
        ]
    )
