"""Programs in languages that have no parser here, read by a catalogue of what their calls do."""
