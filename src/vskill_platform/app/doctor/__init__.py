"""The doctor: looks at everything that a registry needs, changes nothing that one uses, and says what to do."""

from vskill_platform.app.doctor.examination import examine
from vskill_platform.app.doctor.finding import Finding, Outcome

__all__ = ["Finding", "Outcome", "examine"]
