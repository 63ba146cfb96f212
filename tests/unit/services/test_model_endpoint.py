"""A model is asked once, politely, and only where the user has said: replies, refusals, waits, and no network else."""

import socket
import threading
import time
from contextlib import suppress

import pytest

from ctxviewer.domain.errors import CancelledWorkError
from ctxviewer.services.model_endpoint import Endpoint, EndpointError, Patience, ask, is_local, problem_of
from ctxviewer.services.runner import CancelToken
from helpers.model_stub import begin_stream, event, model_stub, plain, says, silent, slow

PATIENCE_S = 60.0
"""Far below the time for which a model may be silent."""
LEFT_S = 20.0


def call(url, *, key="", token=None, told=None, prompt="Summarise \N{SNOWMAN}", **patience):
    token = token or CancelToken()
    progress = told.append if told is not None else None
    return ask(Endpoint(url, "qwen ", key), prompt, check=token.check, progress=progress, patience=Patience(**patience))


def refused(answer, **more):
    with model_stub(answer) as stub, pytest.raises(EndpointError) as caught:
        call(stub.url, **more)
    return caught.value


# -- replies


def test_a_streamed_reply_is_joined_and_told_as_it_comes():
    told = []
    with model_stub(says("<summary>", "all \N{SNOWMAN}", "</summary>")) as stub:
        assert call(stub.url, told=told, key="secret") == "<summary>all \N{SNOWMAN}</summary>"
    assert told == [9, 14, 24, 24]
    ((path, headers, body),) = stub.asked
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer secret"
    assert body == {
        "model": "qwen",
        "messages": [{"role": "user", "content": "Summarise \N{SNOWMAN}"}],
        "stream": True,
    }


def test_a_reply_in_one_piece_will_do():
    answer = {"choices": [{"message": {"role": "assistant", "content": "short"}}]}
    told = []
    with model_stub(lambda handler, _stub: plain(handler, 200, answer)) as stub:
        assert call(f"{stub.url}/", told=told) == "short"
    assert told == [5]
    assert "Authorization" not in stub.asked[0][1]
    assert stub.asked[0][0] == "/v1/chat/completions"


def test_lone_surrogates_in_a_prompt_are_replaced():
    with model_stub(says("ok")) as stub:
        call(stub.url, prompt="cut \ud83d here")
    assert stub.asked[0][2]["messages"][0]["content"] == "cut ? here"


# -- refusals, each a sentence and what to do


@pytest.mark.parametrize(
    ("status", "body", "sentence", "hint"),
    [
        (401, {"error": {"message": "bad key."}}, "127.0.0.1 does not accept the key (bad key).", "Check the key"),
        (403, b"", "127.0.0.1 does not accept the key.", "Check the key"),
        (404, {"error": "model 'qwen' not found"}, "127.0.0.1 does not know this address or model", "/v1"),
        (429, {"message": "slow down"}, "127.0.0.1 takes no more requests for now (slow down).", "Wait a while"),
        (500, b"<html>oh\x00no</html>", "127.0.0.1 has failed (status 500) (<html>oh\ufffdno</html>).", "later"),
        (307, b"", "points to another address (status 307), which is not followed.", "final address"),
        (400, {"error": {"message": "x" * 900}}, "refused the request (status 400)", ""),
    ],
)
def test_a_refusing_service(status, body, sentence, hint):
    error = refused(lambda handler, _stub: plain(handler, status, body, Location="http://127.0.0.1:9/elsewhere"))
    assert sentence in error.sentence
    assert hint in error.hint
    assert len(error.sentence) < 300


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b'{"choices": [', "is not JSON: '{\"choices\": ['"),
        (b"hello", "is not JSON: 'hello'"),
        (b"[]", "has no reply in it"),
        (b'{"choices": {}}', "has no reply in it"),
        (b'{"choices": [{"message": {"content": "  "}}]}', "sent an empty reply"),
        (b'{"choices": [{"message": {"content": [1]}}]}', "sent an empty reply"),
        (b'{"error": {"message": "overloaded"}}', "reports: overloaded."),
    ],
)
def test_broken_answers(body, sentence):
    assert sentence in refused(lambda handler, _stub: plain(handler, 200, body)).sentence


def test_a_stream_that_breaks_off_is_no_reply():
    def answer(handler, _stub):
        begin_stream(handler)
        event(handler, "half of a summ")

    error = refused(answer)
    assert error.sentence == "127.0.0.1 ended in the middle of its reply, after 14 characters."


def test_a_broken_event_is_no_reply():
    def answer(handler, _stub):
        begin_stream(handler)
        handler.wfile.write(b"data: {broken\n\n")

    assert "is not JSON" in refused(answer).sentence


def test_something_that_speaks_no_http():
    def answer(handler, _stub):
        handler.wfile.write(b"\x00\x01\x02\r\n\r\n")

    assert "speaks no HTTP" in refused(answer).sentence


def test_nobody_answers():
    with socket.socket() as deaf:  # has the port, so that nobody else gets it, and does not listen
        deaf.bind(("127.0.0.1", 0))
        with pytest.raises(EndpointError) as caught:
            call(f"http://127.0.0.1:{deaf.getsockname()[1]}/v1")
    assert caught.value.sentence == "Nothing answers at 127.0.0.1."


def test_a_name_that_does_not_exist(monkeypatch):
    def unknown(*_words, **_more):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(EndpointError, match=r"nowhere\.invalid cannot be found"):
        call("https://nowhere.invalid/v1")


# -- waiting


def watchers():
    return [thread for thread in threading.enumerate() if thread.name == "ctx-model-watch"]


@pytest.mark.parametrize("answer", [slow, silent])
def test_a_slow_service_is_left_soon_after_the_user_cancels(answer):
    token, reached = CancelToken(), threading.Event()

    def told(handler, stub):
        reached.set()
        answer(handler, stub)

    with model_stub(told) as stub:
        user = threading.Thread(target=lambda: reached.wait(PATIENCE_S) and token.cancel())
        user.start()
        start = time.monotonic()
        with pytest.raises(CancelledWorkError):
            call(stub.url, token=token)
        assert time.monotonic() - start < PATIENCE_S
        assert watchers() == [], "nothing is left running"
        user.join()
        if answer is slow:
            assert stub.hung_up.wait(PATIENCE_S), "the connection is closed"


def test_a_service_that_never_says_hello_is_left_too():
    """A secure connection begins with a greeting, for which an address of something else lets one wait for ever."""
    token, left = CancelToken(), threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as mute:

        def listen():
            connection, _ = mute.accept()
            with connection:
                connection.settimeout(LEFT_S)
                greeting = connection.recv(10_000)
                token.cancel()
                while greeting:
                    try:
                        greeting = connection.recv(10_000)
                    except TimeoutError:
                        return
                    except ConnectionResetError:
                        break
            left.set()

        service = threading.Thread(target=listen)
        service.start()
        with pytest.raises(CancelledWorkError):
            call(f"https://127.0.0.1:{mute.getsockname()[1]}/v1", token=token)
        service.join()
    assert left.is_set(), "the caller has gone, not the service"
    assert watchers() == []


def test_a_secure_connection_stays_secure_while_it_is_cut(monkeypatch):
    """A request that is being written at that moment must not go on in the clear."""
    token, ciphers, ours = CancelToken(), [], socket.socket.shutdown

    def shutdown(made, how):
        ciphers.append(made._sslobj)
        return ours(made, how)

    with socket.create_server(("127.0.0.1", 0)) as mute:

        def listen():
            connection, _ = mute.accept()
            with connection:
                connection.recv(10_000)  # the greeting: it is a secure socket now
                token.cancel()
                connection.settimeout(LEFT_S)
                with suppress(OSError):
                    connection.recv(10_000)

        service = threading.Thread(target=listen)
        service.start()
        monkeypatch.setattr(socket.socket, "shutdown", shutdown)
        with pytest.raises(CancelledWorkError):
            call(f"https://127.0.0.1:{mute.getsockname()[1]}/v1", token=token)
        service.join()
    (cipher,) = ciphers
    assert cipher is not None


def test_a_token_that_is_cancelled_already_asks_nobody():
    token = CancelToken()
    token.cancel()
    with model_stub(says("x")) as stub, pytest.raises(CancelledWorkError):
        call(stub.url, token=token)
    assert stub.asked == []


def test_silence_ends_and_so_does_a_reply_that_never_ends():
    with model_stub(silent) as stub, pytest.raises(EndpointError, match="sent nothing for"):
        call(stub.url, silence=0.2)
    with model_stub(slow) as stub, pytest.raises(EndpointError, match="took longer than"):
        call(stub.url, total=0.3)


# -- where a key goes, and where not


def test_a_key_is_not_sent_in_the_clear_to_another_machine(monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_words, **_more: pytest.fail("no network"))
    with pytest.raises(EndpointError, match=r"is not sent to models\.example in the clear"):
        call("http://models.example/v1", key="secret")


def test_a_key_is_in_no_picture_of_the_endpoint():
    assert "secret" not in repr(Endpoint("http://localhost/v1", "m", "secret"))


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.8.8", "::1", "api.localhost"])
def test_this_machine(host):
    assert is_local(host)


@pytest.mark.parametrize("host", ["example.com", "10.0.0.1", "localhost.example.com", ""])
def test_another_machine(host):
    assert not is_local(host)


# -- what can be entered


@pytest.mark.parametrize(
    ("url", "model", "words"),
    [
        ("", "m", "Enter an address"),
        ("localhost:11434", "m", "is not an address of the kind http://host:port/v1"),
        ("ftp://localhost/v1", "m", "is not an address of the kind"),
        ("http://", "m", "is not an address of the kind"),
        ("http://localhost:99999/v1", "m", "is not an address"),
        ("http://[::1/v1", "m", "is not an address"),
        ("http://me:secret@localhost/v1", "m", "Enter the key in its own field"),
        ("http://localhost:11434/v1", " ", "Enter the name of the model"),
    ],
)
def test_what_cannot_be_used_is_told(url, model, words):
    assert words in problem_of(url, model)


def test_what_can_be_used():
    assert problem_of(" http://localhost:11434/v1 ", "qwen") == ""
    assert problem_of("https://[2001:db8::1]:8443", "m") == ""
