"""The tree of tasks: groups, order, what survives a refresh, the filter, ten thousand of them."""

import pytest
from PySide6.QtCore import QPersistentModelIndex, Qt

from ctxviewer.models.tasks import TaskFilter, TaskRole, TaskTreeModel, one_line, when_text
from helpers.snapshots import ref
from helpers.work import Work

NOW = 1_764_500_000_000
DAY = 86_400_000


def lines(model):
    """Groups and tasks as text, indented."""
    found = []
    for row in range(model.rowCount()):
        group = model.index(row, 0)
        found.append(group.data())
        found += [f"  {model.index(child, 0, group).data()}" for child in range(model.rowCount(group))]
    return found


@pytest.fixture
def model(qtmodeltester):
    made = TaskTreeModel(lambda: NOW)
    qtmodeltester.check(made)
    return made


def test_tasks_are_grouped_by_agent_and_host(model):
    model.set_tasks([ref("a"), ref("b", host="Cursor"), ref("c"), ref("d", host="")])
    assert lines(model) == [
        "Cline · Code",
        "  task a",
        "  task c",
        "Cline · Cursor",
        "  task b",
        "Cline · folders",
        "  task d",
    ]


def test_a_refresh_keeps_persistent_indexes(model):
    model.set_tasks([ref("a"), ref("b"), ref("c"), ref("x", host="Cursor")])
    kept = {name: QPersistentModelIndex(model.index_of(str(ref(name).directory))) for name in "acx"}
    model.set_tasks([ref("new"), ref("c"), ref("a", title="renamed"), ref("x", host="Cursor")])
    assert lines(model) == ["Cline · Code", "  task new", "  task c", "  renamed", "Cline · Cursor", "  task x"]
    assert [kept[name].data() for name in "acx"] == ["renamed", "task c", "task x"]


def test_indexes_survive_when_a_group_above_goes(model):
    model.set_tasks([ref("a"), ref("x", host="Cursor"), ref("y", host="Cursor")])
    kept = QPersistentModelIndex(model.index_of(str(ref("y").directory)))
    model.set_tasks([ref("x", host="Cursor"), ref("y", host="Cursor"), ref("z", host="New")])
    assert lines(model) == ["Cline · Cursor", "  task x", "  task y", "Cline · New", "  task z"]
    assert kept.data() == "task y"
    assert kept.parent().data() == "Cline · Cursor"


def test_nothing_is_shown_for_nothing(model):
    model.set_tasks([ref("a")])
    model.set_tasks([])
    assert lines(model) == []
    assert not model.index_of(str(ref("a").directory)).isValid()


def test_an_equal_refresh_is_silent(model, qtbot):
    model.set_tasks([ref("a"), ref("b")])
    with qtbot.assertNotEmitted(model.dataChanged), qtbot.assertNotEmitted(model.layoutChanged):
        model.set_tasks([ref("a"), ref("b")])


def test_only_rows_that_changed_are_told(model, qtbot):
    """The tree measures what it is told of: the newest of ten thousand tasks changes with every request."""
    names = "abcdef"
    model.set_tasks([ref(name) for name in names])
    with qtbot.waitSignal(model.dataChanged) as told:
        model.set_tasks([ref(name, size=5 if name in "bd" else 0) for name in names])
    assert [index.row() for index in told.args[:2]] == [1, 3]
    with qtbot.waitSignal(model.dataChanged) as told:
        model.set_tasks([ref(name) for name in "bacdef"])
    assert [index.row() for index in told.args[:2]] == [0, 5], "rows in another order are all told"


def test_roles_say_what_the_delegate_paints(model):
    task = ref("a", updated=NOW - 60_000, total_tokens=168_412, problem="", favourite=True)
    lost = ref("b", problem="its conversation is missing", size=3_400_000)
    model.set_tasks([task, lost])
    model.set_live(frozenset({str(task.directory)}))
    first, second = (model.index(row, 0, model.index(0, 0)) for row in (0, 1))
    assert first.data(TaskRole.REF) is task
    assert first.data(TaskRole.LIVE)
    assert first.data(TaskRole.FAVOURITE)
    assert first.data(TaskRole.DETAIL).endswith("168k tokens")
    assert first.data(Qt.ItemDataRole.AccessibleTextRole).startswith("task a, running, ")
    assert second.data(TaskRole.PROBLEM) == "its conversation is missing"
    assert second.data(TaskRole.DETAIL) == "3.4 MB"
    assert "its conversation is missing" in second.data(Qt.ItemDataRole.ToolTipRole)
    assert model.index(0, 0).data(TaskRole.DETAIL) == "2 tasks"
    assert model.index(0, 0).data(TaskRole.REF) is None


def test_groups_cannot_be_selected(model):
    model.set_tasks([ref("a")])
    group = model.index(0, 0)
    assert not group.flags() & Qt.ItemFlag.ItemIsSelectable
    assert model.index(0, 0, group).flags() & Qt.ItemFlag.ItemIsSelectable


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("plain", "plain"),
        ("\n\n  first words\nsecond", "first words"),
        ("a\x1b[31mred\x00\u202eback", "a [31mred  back"),
        ("x" * 300, "x" * 119 + "…"),
        ("lone \ud83d half", "lone   half"),
        ("", ""),
    ],
)
def test_titles_are_one_harmless_line(title, shown):
    assert one_line(title) == shown


@pytest.mark.parametrize(("ago", "shape"), [(0, ":"), (40 * DAY, " "), (800 * DAY, " 20")])
def test_times_get_coarser_with_age(ago, shape):
    assert shape in when_text(NOW - ago, NOW)


@pytest.mark.parametrize("ms", [0, -1, 10**15, 10**300])
def test_no_time_is_no_words(ms):
    assert when_text(ms, NOW) == ""


def test_absurd_numbers_of_an_index_are_shown_without_an_error(model):
    """An error in what Qt asks for while it paints would end the whole program."""
    model.set_tasks([ref("a", updated=10**300, size=10**300, total_tokens=1e300), ref("b", total_tokens=float("inf"))])
    for row in (0, 1):
        index = model.index(row, 0, model.index(0, 0))
        for role in (*TaskRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            model.data(index, role)


def test_the_filter_wants_all_words_anywhere(qtmodeltester):
    model, proxy = TaskTreeModel(lambda: NOW), TaskFilter()
    proxy.setSourceModel(model)
    qtmodeltester.check(proxy)
    model.set_tasks([ref("a", title="Fix the Login form"), ref("b", title="add tests"), ref("c", host="Cursor")])
    proxy.set_filter("login FIX")
    assert lines(proxy) == ["Cline · Code", "  Fix the Login form"]
    proxy.set_filter("cursor")
    assert lines(proxy) == ["Cline · Cursor", "  task c"]
    proxy.set_filter("nothing has this")
    assert lines(proxy) == []
    proxy.set_filter("")
    assert len(lines(proxy)) == 5


def test_ten_thousand_tasks_are_no_effort(qapp):
    tasks = [ref(f"t{number}", host=f"host {number % 4}", updated=number) for number in range(10_000)]
    model, proxy = TaskTreeModel(lambda: NOW), TaskFilter()
    proxy.setSourceModel(model)
    with Work() as work:
        model.set_tasks(tasks)
        model.set_tasks(list(reversed(tasks)))
        proxy.set_filter("t9 4")
    assert sum(proxy.rowCount(proxy.index(row, 0)) for row in range(proxy.rowCount())) > 100
    assert work.seconds < 3
