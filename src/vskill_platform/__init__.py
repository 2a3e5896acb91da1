"""vskill-platform: a self-hosted registry that verifies agent skills before anyone installs them."""

__version__ = "0.1.0"
