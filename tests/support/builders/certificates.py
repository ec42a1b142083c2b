"""Certificates made with the `openssl` command for one test run: an authority and what it has signed."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path
from typing import NamedTuple

KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
LOCAL = "IP:127.0.0.1"


class Pair(NamedTuple):
    """A certificate and its key, as PEM files."""

    certificate: Path
    key: Path

    def server_context(self) -> ssl.SSLContext:
        """Return the TLS context of a server with this certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self)
        return context


class Authority:
    """An authority that signs certificates; no client trusts it by default."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.itself = self.self_signed("authority", "DNS:authority.example")

    def self_signed(self, name: str, host: str = LOCAL) -> Pair:
        """Return a self-signed certificate."""
        pair = self._pair(name)
        request = ("req", "-x509", *KEY, "-days", "2", "-subj", f"/CN={name}")
        usage = "keyUsage=critical,keyCertSign,cRLSign,digitalSignature"  # required by Python 3.13
        extensions = ("-addext", f"subjectAltName={host}", "-addext", usage)
        _openssl(*request, *extensions, "-keyout", pair.key, "-out", pair.certificate)
        return pair

    def signed(self, name: str, host: str = LOCAL, days: int = 2) -> Pair:
        """Return a signed certificate for `host`; negative days make one that has expired."""
        pair, request = self._pair(name), self._folder / f"{name}.csr"
        _openssl("req", *KEY, "-subj", f"/CN={name}", "-keyout", pair.key, "-out", request)
        extensions = self._folder / f"{name}.cnf"
        identifiers = "authorityKeyIdentifier=keyid\nsubjectKeyIdentifier=hash\n"
        extensions.write_text(f"subjectAltName={host}\n{identifiers}", encoding="ascii")
        authority = ("-CA", self.itself.certificate, "-CAkey", self.itself.key, "-CAcreateserial")
        validity = ("-days", str(days), "-extfile", extensions)
        _openssl("x509", "-req", "-in", request, *authority, *validity, "-out", pair.certificate)
        return pair

    def _pair(self, name: str) -> Pair:
        return Pair(self._folder / f"{name}.pem", self._folder / f"{name}.key")


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=30)  # noqa: S607
