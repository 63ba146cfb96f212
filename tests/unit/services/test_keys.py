"""Keys lie in the system's keyring, or in memory where there is none; never in a file."""

import sys
from types import ModuleType

import pytest

from ctxviewer.services.keys import Keys

URL = "http://localhost:11434/v1"


class FakeKeyring:
    def __init__(self, broken=False):
        self.kept = {}
        self.broken = broken

    def _check(self):
        if self.broken:
            raise RuntimeError("locked")

    def get_password(self, service, name):
        self._check()
        return self.kept.get((service, name))

    def set_password(self, service, name, password):
        self._check()
        self.kept[service, name] = password

    def delete_password(self, service, name):
        self._check()
        del self.kept[service, name]


def test_a_key_goes_into_the_keyring_and_out_again():
    keyring = FakeKeyring()
    keys = Keys(keyring)
    assert keys.get(URL) == ""
    assert keys.set(URL, "secret") == ""
    assert keyring.kept == {("ctxviewer", URL): "secret"}
    assert Keys(keyring).get(URL) == "secret"
    assert keys.get("http://other/v1") == ""
    assert keys.set(URL, "") == ""
    assert keyring.kept == {}
    assert keys.set(URL, "") == "", "forgetting nothing is no error"


def test_where_the_keyring_fails_the_key_is_kept_in_memory_and_that_is_told():
    keys = Keys(FakeKeyring(broken=True))
    assert keys.set(URL, "secret") == (
        "The system's keyring cannot be used: the key is kept until ctxviewer is closed, and in no file."
    )
    assert keys.get(URL) == "secret"
    assert Keys(FakeKeyring(broken=True)).get(URL) == ""
    assert keys.set(URL, "") == ""
    assert keys.get(URL) == ""


def test_without_the_package_the_key_is_kept_in_memory(monkeypatch):
    monkeypatch.setitem(sys.modules, "keyring", None)
    keys = Keys()
    assert "not installed (ctxviewer[model])" in keys.set(URL, "secret")
    assert keys.get(URL) == "secret"


def test_the_systems_keyring_is_found_when_it_is_first_needed(monkeypatch):
    fake = FakeKeyring()
    keys = Keys()
    install(monkeypatch, fake)
    assert keys.set(URL, "secret") == ""
    assert fake.kept == {("ctxviewer", URL): "secret"}


def install(monkeypatch, backend):
    """The package keyring, with this backend in use."""
    module = ModuleType("keyring")
    module.get_keyring = lambda: backend
    monkeypatch.setitem(sys.modules, "keyring", module)


class FileKeyring(FakeKeyring):
    """As of keyrings.alt, whose backends write files of their own."""


FileKeyring.__module__ = "keyrings.alt.file"


class Chain(FakeKeyring):
    """Several backends behind one another."""

    def __init__(self, *backends):
        super().__init__()
        self.backends = backends


def test_backends_that_write_files_are_not_used(monkeypatch):
    file, safe = FileKeyring(), FakeKeyring()
    for backend in (file, Chain(file)):
        install(monkeypatch, backend)
        keys = Keys()
        assert keys.set(URL, "secret").startswith("The system's keyring cannot be used")
        assert keys.get(URL) == "secret"
    install(monkeypatch, Chain(file, safe))
    assert Keys().set(URL, "secret") == ""
    assert Keys().get(URL) == "secret"
    assert safe.kept == {("ctxviewer", URL): "secret"}
    assert file.kept == {}


def test_a_package_that_finds_no_keyring_is_told(monkeypatch):
    module = ModuleType("keyring")

    def get_keyring():
        raise RuntimeError("no backend")

    module.get_keyring = get_keyring
    monkeypatch.setitem(sys.modules, "keyring", module)
    assert Keys().set(URL, "secret").startswith("The system's keyring cannot be used")


@pytest.mark.parametrize("key", ["", "new"])
def test_a_key_that_was_kept_in_memory_gives_way(key):
    keyring = FakeKeyring(broken=True)
    keys = Keys(keyring)
    keys.set(URL, "old")
    keyring.broken = False
    keys.set(URL, key)
    assert keys.get(URL) == key
