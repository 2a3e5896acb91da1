"""What a stream asks for."""

from __future__ import annotations

from dataclasses import dataclass

from vskill_platform.domain.submission import SubmissionState
from vskill_platform.web.live.telling import Told, Topic


@dataclass(frozen=True, slots=True)
class Wanted:
    """The events that a stream gets: those of its topic; of these subjects, or in or out of these states, if it names any."""

    topic: Topic
    subjects: frozenset[str] | None = None
    states: frozenset[SubmissionState] | None = None

    def matches(self, told: Told) -> bool:
        """Whether the stream gets this event. One that leaves a state is told to those who watch that state, too."""
        if told.topic is not self.topic:
            return False
        if self.subjects is not None:
            return told.subject in self.subjects
        return self.states is None or not self.states.isdisjoint(told.states)
