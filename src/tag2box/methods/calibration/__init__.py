"""How far to trust what was found: signs in the photos, and what base classes teach about them."""

from tag2box.methods.calibration.calibration import (
    CALIBRATION_NAME,
    Calibration,
    Judge,
    load_calibration,
    save_calibration,
)
from tag2box.methods.calibration.left_out import HeadMaker, left_out_scores
from tag2box.methods.calibration.signs import ABSENT_SIGNS, WRONG_SIGNS, SupportSigns, read_signs, weight_around

__all__ = [
    "ABSENT_SIGNS",
    "CALIBRATION_NAME",
    "WRONG_SIGNS",
    "Calibration",
    "HeadMaker",
    "Judge",
    "SupportSigns",
    "left_out_scores",
    "load_calibration",
    "read_signs",
    "save_calibration",
    "weight_around",
]
