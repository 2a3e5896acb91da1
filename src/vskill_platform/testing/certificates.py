"""Certificates for servers on loopback, made for one run."""

from __future__ import annotations

import subprocess
from pathlib import Path


def make_certificate(folder: Path, name: str) -> Path:
    """A certificate that vouches for itself, and its key, in one file. The name is `DNS:…` or `IP:…`."""
    file, key, certificate = folder / "server.pem", folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-days", "2", "-subj", "/CN=loopback", "-addext", f"subjectAltName={name}",
         "-keyout", str(key), "-out", str(certificate)],
        check=True,
        capture_output=True,
        timeout=30,
    )  # fmt: skip
    file.write_bytes(key.read_bytes() + certificate.read_bytes())
    return file
