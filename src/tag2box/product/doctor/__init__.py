"""What is installed, missing or wrong: the findings behind ``tag2box doctor``."""

from tag2box.product.doctor.checkup import examine
from tag2box.product.doctor.findings import Finding, State

__all__ = ["Finding", "State", "examine"]
