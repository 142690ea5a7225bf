"""What rivals learn from base classes before they see a task: more than what all methods know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from tag2box.methods.rivals.lsda import BaseClassifiers
from tag2box.methods.rivals.relations import RelationNetwork
from tag2box.methods.rivals.silco import SilcoNetwork


@final
@dataclass(frozen=True, eq=False)
class Schooling:
    """The networks and classifiers of rivals, learned on regions of base photos."""

    relations: RelationNetwork
    classifiers: BaseClassifiers
    silco: SilcoNetwork
