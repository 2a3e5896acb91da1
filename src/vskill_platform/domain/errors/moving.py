"""What an export, an import or a backup turned out to be."""

from __future__ import annotations

from vskill_platform.domain.errors.base import VskillError
from vskill_platform.domain.errors.engines import EngineRefused


class ExportRefused(VskillError):
    """The export cannot be imported as it is."""

    code = "export_refused"


class ExportIncomplete(ExportRefused):
    """The export was not finished, or a part of it is missing or cut off."""

    code = "export_incomplete"


class ExportCorrupt(ExportRefused):
    """A part of the export does not have the digest that its manifest states."""

    code = "export_corrupt"


class ExportFromFuture(ExportRefused):
    """The export has a newer format than this version reads."""

    code = "export_from_future"


class ImportDiffers(VskillError):
    """What is in the registry after an import is not what the export says."""

    code = "import_differs"


class BackupDamaged(VskillError):
    """The copy that a backup made does not pass its own checks, or lacks a blob that it names."""

    code = "backup_damaged"


class ImportUnfinished(EngineRefused):
    """An import into this registry has begun and not ended: what is in it is a part of a registry."""

    code = "import_unfinished"


class BackupElsewhere(EngineRefused):
    """Backups of this engine are made with its own tools."""

    code = "backup_elsewhere"


class RegistryNotEmpty(EngineRefused):
    """An import goes into an empty registry only, and this one holds something."""

    code = "registry_not_empty"
