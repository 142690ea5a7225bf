"""Every error that tag2box raises on purpose.

Tag2BoxError
└── InputError                  what came in is wrong; exit code 2
    ├── ShapeError              an array has the wrong shape or values out of range
    ├── NotFiniteError          NaN or infinity
    ├── NotUnitLengthError      a feature is not a direction
    ├── EmptyBagError           an image without regions
    ├── TooFewImagesError       nothing can be common to one image
    ├── NoImagesOfClassError    a class without images
    ├── PoolTooSmallError       more images asked for than there are
    ├── DatasetError            annotations that cannot be read, or a split that is not known
    ├── PhotoError              a picture that cannot be read
    ├── TagsError               tagged photos that cannot be understood
    ├── RunError                a folder of localized photos, or boxes, that cannot be used
    ├── ClassFileError          a file of learned classes that cannot be used
    ├── ExportError             an annotation format that is not known, or files that cannot be written
    ├── RecipeError             a training recipe with an unknown key or a wrong value
    ├── TrainingError           a training run that cannot start or go on
    ├── ModelError              a folder that holds no usable model
    ├── SpecificationError      an experiment with an unknown key or a wrong value
    ├── ResultError             a result of an experiment that cannot be read
    ├── ClusterError            a cluster that does not answer, or cannot be asked
    ├── RequestError            a page that asks for something which means nothing
    ├── DoorError               another tool that is not there, or says no
    └── StoreError              a feature store that cannot be used
        ├── ForeignStoreError   written with another extractor
        ├── DamagedStoreError   truncated or changed on disk
        └── BusyStoreError      another process is writing
"""


class Tag2BoxError(Exception):
    """Anything that tag2box refuses to do, with a reason."""


class InputError(Tag2BoxError, ValueError):
    """Says what was wrong, what was expected and what to do about it."""

    def __init__(self, wrong: str, expected: str, remedy: str) -> None:
        super().__init__(wrong, expected, remedy)
        self.wrong = wrong
        self.expected = expected
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.wrong}\n  expected: {self.expected}\n  what to do: {self.remedy}"


class ShapeError(InputError):
    """An array has the wrong shape, or values outside their range."""


class NotFiniteError(InputError):
    """An array holds NaN or infinity."""


class NotUnitLengthError(InputError):
    """A feature row does not have length one."""


class EmptyBagError(InputError):
    """An image came without any region."""


class TooFewImagesError(InputError):
    """A common object was asked for with fewer than two images."""


class NoImagesOfClassError(InputError):
    """A class has no image at all."""


class PoolTooSmallError(InputError):
    """An episode needs more images than the pool has."""


class DatasetError(InputError):
    """An annotation file, an image list or a split is missing or not as it should be."""


class PhotoError(InputError):
    """A picture is missing, broken or of an unknown format."""


class TagsError(InputError):
    """A folder, a table or an annotation file does not say which thing is in which photo."""


class RunError(InputError):
    """A folder of localized photos, or a file of boxes, is missing, damaged, or another job's."""


class ClassFileError(InputError):
    """A file of learned classes is missing, damaged, or made with another extractor."""


class ExportError(InputError):
    """Boxes cannot be written in the format that was asked for."""


class RecipeError(InputError):
    """A training recipe has an unknown key, or a value of the wrong kind."""


class TrainingError(InputError):
    """A training run cannot start or go on: something is not installed, or belongs to another run."""


class ModelError(InputError):
    """A model's folder is missing a file, or its files do not belong together."""


class SpecificationError(InputError):
    """An experiment's file has an unknown key, or a value that means nothing."""


class ResultError(InputError):
    """A result of an experiment is missing, damaged, or another experiment's."""


class ClusterError(InputError):
    """A cluster that does not answer, or cannot be asked."""


class RequestError(InputError):
    """A page asks for something that cannot be understood."""


class DoorError(InputError):
    """Another tool is not there, does not let us in, or does not know what we speak of."""


class StoreError(InputError):
    """A feature store cannot be opened, read or written."""


class ForeignStoreError(StoreError):
    """A feature store was written with another extractor."""


class DamagedStoreError(StoreError):
    """A shard or header of a feature store is truncated or was changed."""


class BusyStoreError(StoreError):
    """Another process is writing to the feature store."""


def reason_of(error: Exception) -> str:
    """Why something failed, in one line, for use in another error's message."""
    return error.wrong if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
