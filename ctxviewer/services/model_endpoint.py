"""Asks a model behind an OpenAI-compatible address for one reply. The only code of the program that uses the network.

Nothing here runs unless the user has entered an address. One request, no redirects, no proxy of the environment, no
retry; the key goes nowhere but into this request's header, and not in the clear to another machine.
"""

from __future__ import annotations

import errno
import http.client
import ipaddress
import json
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import SplitResult, urlsplit

from ctxviewer.domain.errors import CancelledWorkError, CtxError
from ctxviewer.domain.json import Json, as_text, is_object

CONNECT_S: Final = 10.0
SILENCE_S: Final = 120.0
"""A model may think for so long without sending anything."""
TOTAL_S: Final = 600.0
LARGEST_REPLY: Final = 4_000_000
"""Bytes of a whole answer; a summary needs a few thousand."""
_POLL_S: Final = 0.05
_SHOWN: Final = 200

Check = Callable[[], None]
"""Raises CancelledWorkError when asked to stop."""
Progress = Callable[[int], None]
"""Told how many characters of the reply have come."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is asked."""

    base_url: str
    """'http://localhost:11434/v1'."""
    model: str
    key: str = field(default="", repr=False)
    """'' where none is needed."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long is waited, in seconds."""

    connect: float = CONNECT_S
    silence: float = SILENCE_S
    total: float = TOTAL_S


class EndpointError(CtxError):
    """The model gave no reply that can be used. Nothing was changed."""


def problem_of(base_url: str, model: str) -> str:
    """Why an address and a model's name cannot be used, as a sentence; '' when they can."""
    if not base_url.strip():
        return "Enter an address, such as http://localhost:11434/v1."
    try:
        _split(base_url)
    except EndpointError as error:
        return error.sentence
    return "" if model.strip() else "Enter the name of the model, as the service knows it."


def ask(
    endpoint: Endpoint,
    prompt: str,
    *,
    check: Check,
    progress: Progress | None = None,
    patience: Patience | None = None,
) -> str:
    """The reply to one user message. Blocks; for a job.

    Raises EndpointError with a sentence and what to do, and CancelledWorkError soon after `check` would raise it.
    """
    url = _split(endpoint.base_url)
    wait = patience if patience is not None else Patience()
    deadline = time.monotonic() + wait.total
    check()
    call = _Call(endpoint, url, wait, deadline, check)
    try:
        return call.reply(prompt, progress if progress is not None else _silent)
    except CancelledWorkError:
        raise
    except EndpointError:
        check()
        raise
    except (OSError, http.client.HTTPException) as error:
        call.tell_late()
        raise _failure(error, url) from error
    finally:
        call.close()


def _silent(_characters: int) -> None:
    return None


def _split(base_url: str) -> SplitResult:
    """The parts of an address. EndpointError when it is none."""
    try:
        url = urlsplit(base_url.strip())
        port = url.port
    except ValueError as error:
        raise EndpointError(f"{base_url.strip()[:_SHOWN]} is not an address: {error}.") from error
    if url.scheme not in {"http", "https"} or not url.hostname or port == 0:
        raise EndpointError(
            f"{base_url.strip()[:_SHOWN] or 'Nothing'} is not an address of the kind http://host:port/v1."
        )
    if url.username is not None or url.password is not None:
        raise EndpointError("Enter the key in its own field, not in the address.")
    return url


def is_local(host: str) -> bool:
    """True for this machine."""
    if host.lower() in {"localhost", "localhost.localdomain"} or host.lower().endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class _Call:
    """One request. A watchdog ends a wait of the socket as soon as the user cancels or time is up."""

    def __init__(self, endpoint: Endpoint, url: SplitResult, wait: Patience, deadline: float, check: Check) -> None:
        self._endpoint, self._url, self._wait, self._deadline, self._check = endpoint, url, wait, deadline, check
        self._host = url.hostname or ""
        self._socket: socket.socket | None = None
        self._connection: http.client.HTTPConnection | None = None
        self._response: http.client.HTTPResponse | None = None
        self._over = threading.Event()
        self._watchdog: threading.Thread | None = None
        self._heard = time.monotonic()
        self._late = ""

    def reply(self, prompt: str, progress: Progress) -> str:
        """Send, and read the whole answer."""
        if self._endpoint.key and self._url.scheme == "http" and not is_local(self._host):
            raise EndpointError(
                f"The key is not sent to {self._host} in the clear.",
                hint="Use an https address, or remove the key if the service needs none.",
            )
        secure = self._url.scheme == "https"
        port = self._url.port or (443 if secure else 80)
        self._socket = _connect(
            self._host, port, min(self._deadline, time.monotonic() + self._wait.connect), self._check
        )
        self._socket.settimeout(None)
        self._watchdog = threading.Thread(target=self._watch, name="ctx-model-watch", daemon=True)
        self._watchdog.start()
        if secure:
            self._secure(self._socket)
        connection = self._connection = http.client.HTTPConnection(self._host, port)
        connection.sock = self._socket
        connection.request(
            "POST", f"{self._url.path.rstrip('/')}/chat/completions", self._body(prompt), self._headers()
        )
        response = self._response = connection.getresponse()
        self._note()
        if response.status != http.client.OK:
            raise _refusal(response.status, self._read_some(response), self._host)
        if "event-stream" in response.getheader("Content-Type", ""):
            return self._stream(response, progress)
        return self._whole(response, progress)

    def _secure(self, plain: socket.socket) -> None:
        """Speak TLS from here on. The greeting can be cut too: it goes over the socket that the watchdog knows."""
        wrapped = ssl.create_default_context().wrap_socket(
            plain, server_hostname=self._host, do_handshake_on_connect=False
        )
        self._socket = wrapped
        self.tell_late()  # the watchdog may have cut the plain one, which is no more
        wrapped.do_handshake()

    def close(self) -> None:
        """Let go of the connection, and end the watchdog."""
        self._over.set()
        if self._watchdog is not None:
            self._watchdog.join()
        if self._response is not None:
            self._response.close()
        if self._connection is not None:
            self._connection.close()
        if self._socket is not None:
            self._socket.close()

    def _body(self, prompt: str) -> bytes:
        message = {"role": "user", "content": prompt.encode("utf-8", "replace").decode("utf-8")}
        body = {"model": self._endpoint.model.strip(), "messages": [message], "stream": True}
        return json.dumps(body).encode("utf-8")

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "text/event-stream, application/json"}
        if self._endpoint.key:
            headers["Authorization"] = f"Bearer {self._endpoint.key}"
        return headers

    def _watch(self) -> None:
        while not self._over.wait(_POLL_S):
            now = time.monotonic()
            try:
                self._check()
            except CancelledWorkError:
                self._cut("cancelled")
                return
            if now > self._deadline:
                self._cut(f"The model took longer than {self._wait.total:,.0f} s.")
                return
            if now - self._heard > self._wait.silence:
                self._cut(f"The model has sent nothing for {self._wait.silence:,.0f} s.")
                return

    def _cut(self, why: str) -> None:
        self._late = why
        if self._socket is not None:
            try:
                # not the method of a secure socket: that would first let go of the cipher, with which we may be writing
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
            except OSError:
                return  # it is closed already

    def _note(self) -> None:
        self._heard = time.monotonic()
        self.tell_late()

    def tell_late(self) -> None:
        """Raise the reason for which the watchdog has ended the call, if it has."""
        self._check()
        if self._late:
            raise EndpointError(self._late, hint="Try again, or use the summary without a model.")

    def _lines(self, response: http.client.HTTPResponse) -> Iterator[bytes]:
        size = 0
        while True:
            try:
                line = response.readline(LARGEST_REPLY)
            except (OSError, http.client.HTTPException):
                self.tell_late()
                raise
            self._note()
            if not line:
                return
            size += len(line)
            if size > LARGEST_REPLY:
                raise EndpointError(f"The reply is larger than {LARGEST_REPLY / 1e6:,.0f} MB.")
            yield line

    def _stream(self, response: http.client.HTTPResponse, progress: Progress) -> str:
        """Server-sent events, one piece of the reply each."""
        parts: list[str] = []
        count, finished = 0, False
        for line in self._lines(response):
            if not line.startswith(b"data:"):
                continue
            data = line[len(b"data:") :].strip()
            if data == b"[DONE]":
                finished = True
                break
            value = _decode(data, self._host)
            choice = _choice(value, self._host)
            delta = choice.get("delta")
            text = as_text(delta.get("content")) if is_object(delta) else ""
            finished = finished or isinstance(choice.get("finish_reason"), str)
            parts.append(text)
            count += len(text)
            progress(count)
        if not finished:
            raise EndpointError(
                f"{self._host} ended in the middle of its reply, after {count:,} characters.", hint="Try again."
            )
        return self._told("".join(parts))

    def _whole(self, response: http.client.HTTPResponse, progress: Progress) -> str:
        """One JSON object."""
        value = _decode(b"".join(self._lines(response)), self._host)
        message = _choice(value, self._host).get("message")
        text = as_text(message.get("content")) if is_object(message) else ""
        progress(len(text))
        return self._told(text)

    def _told(self, text: str) -> str:
        if not text.strip():
            raise EndpointError(f"{self._host} sent an empty reply.", hint="Try again, or choose another model.")
        return text

    def _read_some(self, response: http.client.HTTPResponse) -> bytes:
        try:
            return response.read(10_000)
        except (OSError, http.client.HTTPException):
            return b""


def _connect(host: str, port: int, deadline: float, check: Check) -> socket.socket:
    """A connected socket. Waits in slices, so that the user can cancel."""
    failure: OSError | None = None
    for family, kind, protocol, _name, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        made = socket.socket(family, kind, protocol)
        made.setblocking(False)
        try:
            _await(made, address, deadline, check)
        except OSError as error:
            made.close()
            failure = error
        except BaseException:
            made.close()
            raise
        else:
            return made
    raise failure if failure is not None else OSError(f"{host} has no address")


def _await(made: socket.socket, address: object, deadline: float, check: Check) -> None:
    code = made.connect_ex(address)  # type: ignore[arg-type]  # as getaddrinfo gives it
    if code not in {0, errno.EINPROGRESS, errno.EWOULDBLOCK, errno.EAGAIN}:
        raise OSError(code, "cannot connect")
    while True:
        check()
        _, writable, failed = select.select([], [made], [made], _POLL_S)
        if writable or failed:
            break
        if time.monotonic() > deadline:
            raise TimeoutError(errno.ETIMEDOUT, "no connection in time")
    code = made.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if code:
        raise OSError(code, "cannot connect")


def _decode(data: bytes, host: str) -> Json:
    try:
        value: Json = json.loads(data)
    except ValueError as error:
        raise EndpointError(
            f"The answer of {host} is not JSON: {_shown(data)!r}.", hint="Is the address that of the service's /v1?"
        ) from error
    return value


def _choice(value: Json, host: str) -> dict[str, Json]:
    """The first choice of an answer or of a piece of one; an empty one for pieces that carry none."""
    if is_object(value):
        if "error" in value:
            raise EndpointError(f"{host} reports: {_error_words(value)}.")
        choices = value.get("choices")
        if isinstance(choices, list):
            first = choices[0] if choices else {}
            if is_object(first):
                return dict(first)
    raise EndpointError(
        f"The answer of {host} has no reply in it.", hint="Is it an OpenAI-compatible service (chat completions)?"
    )


def _refusal(status: int, body: bytes, host: str) -> EndpointError:
    """What a status means for the user."""
    try:
        said = _error_words(json.loads(body))
    except ValueError:
        said = _shown(body)
    words = f" ({said})" if said else ""
    if status in {401, 403}:
        return EndpointError(f"{host} does not accept the key{words}.", hint="Check the key in the preferences.")
    if status == 404:
        return EndpointError(
            f"{host} does not know this address or model{words}.",
            hint="Check both in the preferences; the address usually ends in /v1.",
        )
    if status == 429:
        return EndpointError(f"{host} takes no more requests for now{words}.", hint="Wait a while and try again.")
    if 300 <= status < 400:
        return EndpointError(
            f"{host} points to another address (status {status}), which is not followed.",
            hint="Enter the final address in the preferences.",
        )
    if status >= 500:
        return EndpointError(f"{host} has failed (status {status}){words}.", hint="Try again later.")
    return EndpointError(f"{host} refused the request (status {status}){words}.")


def _error_words(value: Json) -> str:
    """The message of an error object, in the forms that services use."""
    if not is_object(value):
        return ""
    error = value.get("error", value.get("message"))
    if is_object(error):
        error = error.get("message")
    return _shown(error.encode("utf-8", "replace")) if isinstance(error, str) else ""


def _shown(data: bytes) -> str:
    """The beginning of a foreign text, on one line."""
    words = " ".join(data[: _SHOWN * 4].decode("utf-8", "replace").split())
    words = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in words).rstrip(".")
    return words if len(words) <= _SHOWN else words[: _SHOWN - 1] + "…"


def _failure(error: OSError | http.client.HTTPException, url: SplitResult) -> EndpointError:
    """What went wrong on the way, for people."""
    host = url.hostname or ""
    if isinstance(error, ConnectionRefusedError) or getattr(error, "errno", None) == errno.ECONNREFUSED:
        return EndpointError(f"Nothing answers at {host}.", hint="Is the service running, and the port right?")
    if isinstance(error, socket.gaierror):
        return EndpointError(f"{host} cannot be found.", hint="Check the address in the preferences.")
    if isinstance(error, ssl.SSLError):
        return EndpointError(f"No secure connection to {host}: {_shown(str(error).encode())}.")
    if isinstance(error, TimeoutError):
        return EndpointError(f"{host} did not answer in time.", hint="Is the service reachable from here?")
    if isinstance(error, http.client.HTTPException):
        return EndpointError(f"{host} broke off its answer, or speaks no HTTP.", hint="Check the address.")
    return EndpointError(f"The connection to {host} failed: {_shown(str(error).encode())}.", hint="Try again.")
