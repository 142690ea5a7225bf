"""Label Studio: tasks whose predictions a person accepts or corrects."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from tag2box.files import write_json
from tag2box.product.exports.names import tree_names
from tag2box.product.exports.photos import link_photo, put_photos
from tag2box.product.exports.xml_trees import branch, write_xml
from tag2box.product.labelled import FoundBox, LabelledPhoto, LabelledPhotos

MODEL = "tag2box"
README = """\
How to open these photos in Label Studio

1. Start Label Studio so that it may serve this folder:
     LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED=true \\
     LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT=<this folder> label-studio start
2. Make a project; under Settings > Labeling Interface > Code, paste config.xml.
3. Under Settings > Cloud Storage, add a source storage of the type Local files with the path <this folder>/images,
   and save it without synchronizing: it only allows the photos to be shown.
4. Import tasks.json. Order by prediction score to see the most doubtful photos first.
"""


def write_labelstudio(labelled: LabelledPhotos, folder: Path) -> None:
    """Write ``tasks.json``, ``config.xml``, ``images/`` and a ``README.txt`` that says how to open them."""
    photos = put_photos(labelled, folder / "images", tree_names, link_photo)
    write_json(folder / "tasks.json", [_task(photo) for photo in photos])
    labels = (branch("Label", value=label) for label in labelled.classes)
    image = branch("Image", name="image", value="$image")
    write_xml(
        folder / "config.xml", branch("View", image, branch("RectangleLabels", *labels, name="label", toName="image"))
    )
    (folder / "README.txt").write_text(README, encoding="utf-8")


def _task(photo: LabelledPhoto) -> dict[str, Any]:
    """A photo; its score is that of its most doubtful box."""
    url = f"/data/local-files/?d={quote(f'images/{photo.name}')}"
    regions = [_region(f"box-{number}", found, photo) for number, found in enumerate(photo.boxes, 1)]
    score = min((region["score"] for region in regions), default=None)
    predictions = [{"model_version": MODEL, "score": score, "result": regions}] if regions else []
    return {"data": {"image": url}, "predictions": predictions}


def _region(identity: str, found: FoundBox, photo: LabelledPhoto) -> dict[str, Any]:
    """A box in percent of the photo; its score is the probability that it is right."""
    x0, y0, x1, y1 = found.box
    across, down = 100 / photo.width, 100 / photo.height
    sides = {"x": x0 * across, "y": y0 * down, "width": (x1 - x0) * across, "height": (y1 - y0) * down}
    place = {name: round(side, 4) for name, side in sides.items()}
    return {
        "id": identity,
        "from_name": "label",
        "to_name": "image",
        "type": "rectanglelabels",
        "original_width": photo.width,
        "original_height": photo.height,
        "image_rotation": 0,
        "score": round(1.0 - found.doubt, 4),
        "value": {**place, "rotation": 0, "rectanglelabels": [found.label]},
    }
