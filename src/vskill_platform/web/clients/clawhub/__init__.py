"""ClawHub's API, version 1, over the registry's own services: what the `clawhub` command and its relatives speak to.

`naming.py` says which skill is meant, `views.py` how it is told; the rest is a module a concern. Errors are plain text
(`web/surface/problems.py`), because the client shows them as they are.
"""
