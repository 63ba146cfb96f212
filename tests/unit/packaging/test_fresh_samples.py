"""The demo works on a copy of the samples."""

from ctxviewer import resources
from ctxviewer.sources import registry
from ctxviewer.sources.samples import fresh_samples


def _contents(root):
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in root.rglob("*") if file.is_file()}


def test_the_copy_is_whole_and_can_be_written(tmp_path):
    root = fresh_samples(tmp_path)
    assert _contents(root) == _contents(resources.path("samples"))
    for file in root.rglob("*.json"):
        file.write_bytes(file.read_bytes())


def test_what_was_done_to_an_earlier_copy_is_gone(tmp_path):
    root = fresh_samples(tmp_path)
    victim = next(root.glob("tasks/*/ui_messages.json"))
    victim.write_text("[]")
    (root / "tasks" / "more").mkdir()
    assert fresh_samples(tmp_path) == root
    assert _contents(root) == _contents(resources.path("samples"))


def test_no_sample_looks_open(tmp_path):
    tasks = registry.open_path(fresh_samples(tmp_path))
    assert len(tasks) == 4
    assert [registry.read(task).looks_open for task in tasks] == [()] * 4
