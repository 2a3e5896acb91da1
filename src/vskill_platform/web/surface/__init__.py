"""The thin layer around every route: what holds for each request and each answer, whoever makes it."""
