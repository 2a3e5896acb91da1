"""The schema, as numbered steps. A step that was released is never changed; a change is a new step."""
