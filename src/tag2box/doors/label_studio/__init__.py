"""Label Studio: boxes of a run into a project, and a backend that learns from what annotators draw."""

from tag2box.doors.label_studio.backend import Backend
from tag2box.doors.label_studio.pushing import Pushed, push
from tag2box.doors.label_studio.server import LabelStudio
from tag2box.doors.label_studio.serving import backend_server, is_loopback

__all__ = ["Backend", "LabelStudio", "Pushed", "backend_server", "is_loopback", "push"]
