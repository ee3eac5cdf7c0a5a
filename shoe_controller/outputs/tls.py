"""TLS to a broker: the context made of our files, and what went wrong in words."""

import select
import ssl
from pathlib import Path

from shoe_controller.config.secret_files import SecretFileError, read_secret
from shoe_controller.outputs.errors import FeedSettingsError
from shoe_controller.outputs.settings import Access

# For session tickets or an alert after the handshake. A broker that sends neither costs this at each connect.
VERDICT_WAIT = 0.25
# Numbers of OpenSSL's X509_V_ERR_...
_EXPIRED = "has expired: renew it at the broker (and check this machine's clock)"
_UNKNOWN_ISSUER = "is not signed by an authority that we trust: check `ca_file`"
_VERIFY = {
    9: "is not valid yet: check the clocks of this machine and of the broker",
    10: _EXPIRED,
    18: _UNKNOWN_ISSUER,
    19: _UNKNOWN_ISSUER,
    20: _UNKNOWN_ISSUER,
    21: _UNKNOWN_ISSUER,
    23: "was revoked",
    62: "is made out to another name: check the host name in `brokers`",
    64: "is made out to another address: check the host in `brokers`",
}
# Alerts by which a broker says what it thinks of our certificate; OpenSSL's names for them.
_ALERTS = {
    "CERTIFICATE_EXPIRED": "says that our certificate has expired: renew `cert_file`",
    "UNKNOWN_CA": "does not trust the authority that signed our certificate: check `cert_file`",
    "CERTIFICATE_REQUIRED": "wants a client certificate: set `cert_file` and `key_file`",
    "CERTIFICATE_UNKNOWN": "does not accept our certificate: check `cert_file`",
    "CERTIFICATE_REVOKED": "says that our certificate was revoked: check `cert_file`",
    "BAD_CERTIFICATE": "does not accept our certificate: check `cert_file`",
    "HANDSHAKE_FAILURE": "and we have no kind of encryption in common, or it wants a client certificate",
    "PROTOCOL_VERSION": "speaks no version of TLS from 1.2 on",
    "UNSUPPORTED_PROTOCOL": "speaks no version of TLS from 1.2 on",
    "WRONG_VERSION_NUMBER": "does not speak TLS on this port: write mqtt:// instead, or check the port",
    "RECORD_LAYER_FAILURE": "does not speak TLS on this port: write mqtt:// instead, or check the port",
}


def tls_context(access: Access) -> ssl.SSLContext:
    """Return a context of TLS 1.2 or newer that checks the broker's certificate and shows ours, if there is one."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        if access.ca_file:
            context.load_verify_locations(cafile=access.ca_file)
        else:
            context.load_default_certs()
    except OSError as error:  # ssl.SSLError is one
        raise FeedSettingsError(_unusable(access.ca_file, error, "certificates of authorities in PEM form")) from error
    if access.cert_file:
        _load_own(context, access.cert_file, access.key_file or access.cert_file)
    return context


def _load_own(context: ssl.SSLContext, cert_file: str, key_file: str) -> None:
    try:
        read_secret(key_file)
    except SecretFileError as error:
        raise FeedSettingsError(str(error)) from error
    try:
        # Without the empty password an encrypted key would make OpenSSL ask for one on the terminal.
        context.load_cert_chain(cert_file, key_file, password="")
    except OSError as error:
        missing = key_file if Path(cert_file).is_file() else cert_file
        raise FeedSettingsError(
            _unusable(missing, error, f"a certificate ({cert_file}) and its unencrypted key ({key_file}) in PEM form")
        ) from error


def _unusable(path: str, error: OSError, wanted: str) -> str:
    reason = "its content is not understood" if isinstance(error, ssl.SSLError) else error.strerror
    return f"{path} cannot be used ({reason}): it must hold {wanted}"


def hear_verdict(sock: ssl.SSLSocket) -> None:
    """Wait for what a broker of TLS 1.3 thinks of our certificate, in the thread that connects; raise if it is bad.

    There the handshake ends for us before the broker has looked. It then sends session tickets, or an alert and hangs
    up, and the alert is lost if we write first.
    """
    if sock.version() != "TLSv1.3":
        return
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    poll.poll(VERDICT_WAIT * 1000)
    try:
        # A broker says nothing before CONNECT: there is no data that could be lost here.
        if sock.recv(1) == b"":
            raise ConnectionResetError("it hung up after the handshake")
    except ssl.SSLWantReadError:
        pass


def tls_sentence(error: str | ssl.SSLError) -> str | None:
    """Return what is wrong as the end of a sentence that begins with the broker; None if it is not known."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"shows a certificate that {_VERIFY.get(error.verify_code, f'is not valid ({error.verify_message})')}"
    text = str(error).upper().replace(" ", "_")
    return next((words for name, words in _ALERTS.items() if name in text), None)
