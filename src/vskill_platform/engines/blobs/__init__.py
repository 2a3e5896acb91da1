"""Stores for content-addressed bytes."""

from vskill_platform.engines.blobs.folder import BlobFolder

__all__ = ["BlobFolder"]
