"""Public: what an engine, or code on top of one, is tested with. The contract suites, a fake clock, a probe, builders."""
