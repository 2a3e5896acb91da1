"""The wire of the original's command-line client, `vskill`, below `/vskill`: its own shapes over the same services.

Its base address is put before `/api/v1/…` as it stands, so `VSKILL_API_BASE=https://registry.example/vskill` is all it needs.
Where our API answers in the same shape, the same handler serves both.
"""
