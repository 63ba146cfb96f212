"""The panels that answer questions, one by one: what they say, where they lead, how they are used with keys alone."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu

from ctxviewer.domain.errors import CtxError
from ctxviewer.engine.difference import difference_of, text_changes
from ctxviewer.engine.facts import FileQuestion, MessageQuestion, TextQuestion, track
from ctxviewer.engine.losses import LossKind, find_losses
from ctxviewer.engine.past import Past
from ctxviewer.engine.timeline import Timeline
from ctxviewer.models.composition import Slice
from ctxviewer.services.answers.comparing import Against, Reference, Sums
from ctxviewer.services.answers.inquiry import Answer
from ctxviewer.services.answers.tracking import Tracked
from ctxviewer.services.answers.weighing import Weighed
from ctxviewer.views.answers.ask_line import Kind
from ctxviewer.views.answers.difference import DifferencePanel, Page
from ctxviewer.views.answers.facts import FactsPanel
from ctxviewer.views.answers.losses import LossesPanel, question_of
from ctxviewer.views.answers.parts import AnswerPanel, Segments
from ctxviewer.views.answers.tokens import TokensPanel
from ctxviewer.views.answers.tokens import panel as tokens_panel
from ctxviewer.views.answers.tokens.treemap import Treemap
from ctxviewer.views.fact_look import LOOKS, fact_brush, fact_color, paint_chip, paint_strip
from helpers.asking import Bench, WordCounter, story
from helpers.snapshots import Heard


@pytest.fixture
def make(qtbot):
    def build(kind, width=380, height=460):
        panel = kind()
        qtbot.addWidget(panel)
        panel.resize(width, height)
        panel.show()
        return panel

    return build


@pytest.fixture(scope="module")
def past():
    return Past(Timeline(story()))


@pytest.fixture
def bench(qapp, monkeypatch):
    monkeypatch.setattr("ctxviewer.tokens.load_counter", lambda _encoding: WordCounter())
    task = story()
    return Bench(task).open(task)


def click(listing, row):
    rect = listing.visualRect(listing.model().index(row, 0))
    QTest.mouseClick(listing.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())


# -- parts


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (DifferencePanel, "Open a task to compare"),
        (FactsPanel, "Open a task to follow"),
        (LossesPanel, "Open a task to see what a request no longer knows"),
        (TokensPanel, "Open a task to see where the tokens"),
    ],
)
def test_without_a_task_each_says_what_it_is_for(make, kind, words):
    panel = make(kind)
    assert not panel.shows_page
    assert panel.empty.sentence.startswith(words)
    assert panel.minimumSizeHint().width() <= 390


def test_what_cannot_be_answered_is_said_in_place(make):
    panel = make(LossesPanel)
    panel.set_open(True)
    panel.set_answer(Answer(error=CtxError("The history is damaged.", hint="See the findings.")))
    assert panel.remark.words == "The history is damaged. See the findings."
    panel.set_answer(Answer(working=True))
    assert panel.remark.words == "Looking for what was lost…"


def test_segments_are_chosen_by_click_and_key(qtbot):
    segments = Segments({Page.MESSAGES: ("A", "a"), Page.TOKENS: ("B", "b")})
    qtbot.addWidget(segments)
    segments.show()
    heard = Heard(segments.chosen)
    segments.button(Page.TOKENS).click()
    segments.button(Page.MESSAGES).setFocus()
    QTest.keyClick(segments.button(Page.MESSAGES), Qt.Key.Key_Space)
    assert heard.said == [Page.TOKENS, Page.MESSAGES]
    assert segments.current is Page.MESSAGES


# -- difference


@pytest.fixture
def difference(make, past):
    panel = make(DifferencePanel)
    panel.set_open(True)
    panel.found = difference_of(past.timeline, 4, 5)
    panel.set_answer(Answer(panel.found))
    return panel


def test_the_difference_in_words(difference):
    assert difference._title.text() == "request 5 → request 6"
    assert difference._summary.text().startswith("2 messages are new: 9–10. 4 messages are no longer sent: 2–5.")
    assert difference.rows.rowCount() == 5


def test_a_row_leads_to_its_message_and_its_texts(difference, past):
    messages, texts = Heard(difference.message_wanted), Heard(difference.texts_wanted)
    click(difference.list, 1)
    assert (messages.said, texts.said) == ([1], [1])
    changes = text_changes(past.timeline, difference.found, 1)
    difference.set_texts(Answer(tuple((text, text.lines()) for text in changes)))
    assert difference.reading.isVisible()
    assert difference._caption.text() == "message 1 · − request 5, + request 6"
    assert "a notice" in difference.reading.text.toPlainText()
    click(difference.list, 2)
    assert texts.said == [1, None]
    assert not difference.reading.isVisible()


def test_a_step_keeps_the_texts_of_a_message_that_still_differs(difference, past):
    click(difference.list, 1)
    texts = Heard(difference.texts_wanted)
    difference.set_answer(Answer(difference_of(past.timeline, 3, 5)))
    assert difference.list.currentIndex().data() == "1 · rewritten"
    difference.set_answer(Answer(difference_of(past.timeline, 5, 6)))
    assert texts.said == [None]


def test_tokens_and_files_come_later(difference, past):
    difference._pages.choose(Page.TOKENS)
    assert "being counted" in difference._waiting.sentence
    from ctxviewer.engine.contents import Category
    from ctxviewer.engine.weights import CategoryTokens, FileChanges

    sums = Sums(
        difference.found,
        ((1, 1), (4, 2), (9_000, 0), (6, 6), (0, 8)),
        (CategoryTokens(Category.FILES, 9_000, 0), CategoryTokens(Category.USER, 10, 18)),
        FileChanges(("src/a.py",), ()),
    )
    difference.set_sums(Answer(sums))
    assert difference._pages.button(Page.TOKENS).text() == "Tokens −9.0k"
    assert difference._pages.button(Page.FILES).text() == "Files 1"
    assert difference.table.isVisible()
    files = Heard(difference.file_wanted)
    difference._pages.choose(Page.FILES)
    click(difference.file_list, 0)
    assert files.said == ["src/a.py"]
    other = Sums(difference_of(past.timeline, 2, 3), (), (), FileChanges((), ()))
    difference.set_sums(Answer(other))
    assert difference._pages.button(Page.FILES).text() == "Files 1"


def test_the_reference_is_chosen_and_marked(difference):
    chosen = Heard(difference.reference_chosen)
    difference.set_reference(Reference(Against.MARKED, 2))
    assert difference._choice.currentText() == "request 3, marked"
    place = difference._choice.findText("the first request")
    difference._choice.activated.emit(place)
    assert chosen.said == [Reference(Against.FIRST, 2)]
    difference.set_mark_tip("There is no request.", possible=False)
    assert not difference._mark.isEnabled()
    assert difference._mark.toolTip() == "There is no request."


def test_the_first_request_has_nothing_before_it(difference):
    difference.set_answer(Answer())
    assert "There is none before it" in difference._summary.text().replace("there is none", "There is none")
    assert not difference.list.isVisible()


# -- losses


@pytest.fixture
def losses(make, past):
    panel = make(LossesPanel)
    panel.set_open(True)
    panel.set_answer(Answer(find_losses(past, 5)))
    return panel


def test_losses_lead_to_message_request_and_tracker(losses):
    messages, requests, tracked = (
        Heard(losses.place_wanted), Heard(losses.request_wanted), Heard(losses.track_wanted),
    )  # fmt: skip
    row = next(row for row, loss in enumerate(losses.model.items) if loss.title == "src/a.py")
    assert not losses._track.isEnabled()
    assert losses._track.toolTip() == "Highlight a row first."
    click(losses.list, row)
    assert messages.said == [(2, 0)]
    losses._when.click()
    assert requests.said == [5]
    losses._track.click()
    assert tracked.said == [FileQuestion("src/a.py")]


def test_losses_of_one_kind(losses):
    assert losses.kinds.itemText(1) == "files · 1"
    losses.kinds.setCurrentIndex(1)
    assert [loss.kind for loss in losses.model.items] == [LossKind.FILE]
    losses.kinds.setCurrentIndex(4)
    assert losses._nothing.sentence == "Nothing of this kind is lost at request 6."


def test_nothing_lost_teaches(make, past):
    panel = make(LossesPanel)
    panel.set_open(True)
    panel.set_answer(Answer(find_losses(past, 2)))
    assert panel._title.text() == "Request 3 no longer knows 0 things"
    assert panel._nothing.sentence.startswith("Nothing is lost here")


def test_words_are_tracked_by_their_block(past):
    words = next(loss for loss in find_losses(past, 5).losses if loss.kind is not LossKind.FILE)
    assert question_of(words) == MessageQuestion(words.message, words.block)


def test_the_menu_of_a_loss(losses, monkeypatch):
    monkeypatch.setattr(QMenu, "popup", lambda _menu, _place: None)
    copied = Heard(losses.copy_wanted)
    losses.list.setCurrentIndex(losses.model.index(0))
    losses.list.customContextMenuRequested.emit(losses.list.visualRect(losses.model.index(0)).center())
    next(action for action in losses._menu.actions() if action.text() == "Copy details").trigger()
    assert losses.model.item(0).title in copied.said[0]


# -- facts


@pytest.fixture
def facts(make, past):
    panel = make(FactsPanel)
    panel.set_open(True)
    questions = (TextQuestion("port 8080"), FileQuestion("src/a.py"))
    panel.tracked = tuple(Tracked(n, one, track(past, one), working=False) for n, one in enumerate(questions))
    return panel


def test_an_empty_tracker_teaches_and_offers_the_selection(facts):
    wanted = Heard(facts.selection_wanted)
    assert facts._teach.isVisible()
    assert facts._teach.sentence.startswith("Select words in the conversation")
    facts._teach.activated.emit()
    assert len(wanted.said) == 1


@pytest.mark.parametrize(
    ("kind", "typed", "question"),
    [
        (Kind.WORDS, "port 80", TextQuestion("port 80")),
        (Kind.FILE, " src/a.py ", FileQuestion("src/a.py")),
        (Kind.MESSAGE, "12", MessageQuestion(12)),
    ],
)
def test_questions_are_typed(facts, kind, typed, question):
    asked = Heard(facts.track_wanted)
    facts.line.set_kind(kind)
    QTest.keyClicks(facts.line.field, typed)
    QTest.keyClick(facts.line.field, Qt.Key.Key_Return)
    assert asked.said == [question]


def test_options_of_words(facts):
    asked = Heard(facts.track_wanted)
    facts.line.ignore_case.click()
    facts.line.regex.click()
    facts.line.field.setText("port \\d+")
    facts.line.ask()
    assert asked.said == [TextQuestion("port \\d+", regex=True, ignore_case=True)]
    facts.line.set_kind(Kind.FILE)
    assert not facts.line.regex.isVisible()


def test_a_bad_question_is_told_in_place_and_forgotten_when_typing_goes_on(facts):
    facts.line.set_kind(Kind.MESSAGE)
    facts.line.field.setText("twelve")
    facts.line.ask()
    assert facts.line.problem.words == "That is no number of a message. Messages are counted from 0."
    QTest.keyClicks(facts.line.field, "1")
    assert facts.line.problem.words == ""
    facts.line.say_problem(CtxError("The pattern cannot be understood at position 1: missing ).", hint="\\ before."))
    assert "position 1" in facts.line.problem.words


def test_paths_are_completed_only_where_a_path_is_typed(facts):
    wanted = Heard(facts.line.paths_wanted)
    facts.line.set_paths(("src/a.py", "src/b.py"))
    assert facts.line._paths.stringList() == []
    facts.line.set_kind(Kind.FILE)
    assert len(wanted.said) == 1
    assert facts.line._paths.stringList() == ["src/a.py", "src/b.py"]


def test_pinned_facts_and_their_news(facts):
    facts.set_facts(facts.tracked)
    assert facts.list.isVisible()
    assert facts._news_title.text() == "What happened to A"
    messages, requests = Heard(facts.place_wanted), Heard(facts.request_wanted)
    click(facts.list, 1)
    assert facts._news_title.text() == "What happened to B"
    click(facts.news_list, 1)
    assert (requests.said, messages.said) == ([5], [(2, 0)])
    click(facts.news_list, 2)
    assert (requests.said, messages.said) == ([5], [(2, 0), (2, 0)])


def test_the_strip_of_a_row_leads_to_its_request(facts):
    facts.set_facts(facts.tracked)
    requests = Heard(facts.request_wanted)
    box = facts.list.rows.strip_box(facts.list.visualRect(facts.model.index(0)))
    for share in (0.0, 0.5, 0.999):
        place = QPoint(box.left() + int(box.width() * share), box.center().y())
        QTest.mouseClick(facts.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert requests.said == [0, 4, None]


def test_facts_are_removed_by_button_and_key(facts):
    facts.set_facts(facts.tracked)
    removed, cleared = Heard(facts.remove_wanted), Heard(facts.clear_wanted)
    click(facts.list, 1)
    QTest.keyClick(facts.list, Qt.Key.Key_Delete)
    facts._remove.click()
    facts._clear.click()
    assert removed.said == [1, 1]
    assert len(cleared.said) == 1
    facts.set_facts(facts.tracked[:1])
    assert facts.list.current_row() == 0


def test_an_answered_question_is_highlighted_and_the_field_is_free(facts):
    facts.line.field.setText("port 8080")
    facts.set_facts(facts.tracked)
    facts.show_added(facts.tracked[1])
    assert facts.list.current_row() == 1
    assert facts.line.field.text() == ""


def test_looks_of_facts_differ_in_colour_and_pattern(qapp):
    from PySide6.QtCore import QRect, QRectF
    from PySide6.QtGui import QImage, QPainter

    from ctxviewer.models.tracked import Strip

    assert len({fact_color(place).rgba() for place in range(LOOKS)}) == LOOKS
    shapes = set()
    for place in range(LOOKS):
        image = fact_brush(place).texture().toImage()
        alpha = bytes(
            image.pixelColor(x, y).alpha() // 128 for x in range(image.width()) for y in range(image.height())
        )
        shapes.add(alpha)
    assert len(shapes) == LOOKS
    pictures = []
    for spans, partly in ((((0, 3),), ()), ((), ((0, 3),)), ((), ())):
        image = QImage(80, 12, QImage.Format.Format_RGB32)
        image.fill(0)
        painter = QPainter(image)
        paint_strip(painter, QRectF(0, 0, 80, 12), Strip(1, "x", 4, spans, partly), 0, 5)
        painter.end()
        pictures.append(image)
    assert pictures[0] != pictures[1] != pictures[2] != pictures[0]
    chips = []
    for hollow in (False, True):
        image = QImage(18, 18, QImage.Format.Format_RGB32)
        image.fill(0)
        painter = QPainter(image)
        paint_chip(painter, QRect(0, 0, 18, 18), 2, hollow=hollow)
        painter.end()
        chips.append(image)
    assert chips[0] != chips[1]


# -- tokens


@pytest.fixture
def weighed(bench):
    bench.weighing.watch(True)
    bench.session.select_request(3)
    bench.weighing.refresh()
    found = bench.weighing.answer.value
    assert isinstance(found, Weighed)
    return found


@pytest.fixture
def tokens(make, weighed):
    panel = make(TokensPanel)
    panel.set_open(True)
    panel.set_answer(Answer(weighed))
    return panel


def test_tokens_of_a_request_in_words_map_and_table(tokens, weighed):
    assert tokens._title.text() == "Request 4 · 4,000 tokens reported"
    assert tokens._fit.text().startswith("reported = ")
    assert tokens.map.isVisible()
    tokens._pages.choose(tokens_panel.Page.TABLE)
    assert tokens.tree.isVisible()
    assert tokens.parts.rowCount() == len(weighed.composition.categories) + 1


def test_parts_lead_to_their_message(tokens):
    messages = Heard(tokens.message_wanted)
    tokens._pages.choose(tokens_panel.Page.TABLE)
    files = next(row for row in range(tokens.parts.rowCount()) if tokens.parts.index(row, 0).data() == "files")
    click(tokens.tree, files)
    assert messages.said == [2]


def test_the_fit_leads_to_requests(tokens):
    requests = Heard(tokens.request_wanted)
    tokens._pages.choose(tokens_panel.Page.FIT)
    assert tokens.table.selectionModel().selectedRows()[0].row() == 3
    click(tokens.table, 5)
    assert requests.said == [5]


def test_repeats_teach_when_there_are_none(tokens):
    tokens._pages.choose(tokens_panel.Page.REPEATS)
    assert tokens._no_repeats.isVisible()


def test_counting_is_said_with_a_number(make):
    panel = make(TokensPanel)
    panel.set_open(True)
    panel.set_counted(0.42)
    assert panel.empty.sentence == "The messages are being counted: 42%. The tokens come with the last of them."


def test_another_cut_keeps_open_rows_open(tokens, weighed):
    tokens._pages.choose(tokens_panel.Page.TABLE)
    names = [tokens.parts.index(row, 0).data() for row in range(tokens.parts.rowCount())]
    tokens.tree.expand(tokens.parts.index(names.index("files"), 0))
    tokens._cut()
    assert tokens.tree.isExpanded(tokens.parts.index(names.index("files"), 0))


# -- the map


def part(name, tokens, children=(), message=0):
    return Slice(name, "part_files", tokens, float(tokens), tokens / 1_000, (message,), 0, "", tuple(children))


@pytest.fixture
def treemap(make):
    made = make(Treemap, 400, 300)
    files = part("files", 600, [part("a.py", 400, message=4), part("b.py", 200, message=6)], 4)
    made.set_slices([files, part("user", 300, message=1), part("task", 100)])
    return made


def names(treemap):
    return [tile.slice.name for tile in treemap.tiles]


def test_groups_lie_below_what_is_on_them(treemap):
    assert names(treemap) == ["files", "a.py", "b.py", "user", "task"]
    assert [tile.is_group for tile in treemap.tiles] == [True, False, False, False, False]
    areas = {tile.slice.name: tile.box.area for tile in treemap.tiles}
    assert areas["files"] == pytest.approx(2 * areas["user"])
    assert areas["a.py"] == pytest.approx(2 * areas["b.py"])


def test_a_click_chooses_the_innermost_part(treemap):
    heard = Heard(treemap.slice_chosen)
    box = treemap.tiles[2].box
    place = QPoint(int(box.x + box.width / 2), int(box.y + box.height / 2))
    QTest.mouseClick(treemap, Qt.MouseButton.LeftButton, pos=place)
    assert [one.name for one in heard.said] == ["b.py"]
    assert treemap.current.name == "b.py"


def test_arrows_reach_every_part(treemap):
    treemap.setFocus()
    seen = {treemap.current.name}
    for start in range(len(treemap.tiles)):
        for key in (Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Up):
            QTest.keyClick(treemap, Qt.Key.Key_Home)
            for _ in range(start):
                QTest.keyClick(treemap, Qt.Key.Key_Down if start % 2 else Qt.Key.Key_Right)
                seen.add(treemap.current.name)
            QTest.keyClick(treemap, key)
            seen.add(treemap.current.name)
    assert seen == {"files", "a.py", "b.py", "user", "task"}
    QTest.keyClick(treemap, Qt.Key.Key_End)
    assert treemap.current.name == "task"


def test_the_keyboard_chooses_opens_and_goes_back(treemap):
    heard = Heard(treemap.slice_chosen)
    treemap.setFocus()
    QTest.keyClick(treemap, Qt.Key.Key_Home)
    QTest.keyClick(treemap, Qt.Key.Key_Return)
    assert [one.name for one in heard.said] == ["files"]
    QTest.keyClick(treemap, Qt.Key.Key_Plus)
    assert treemap.inside.name == "files"
    assert names(treemap) == ["files", "a.py", "b.py"]
    QTest.keyClick(treemap, Qt.Key.Key_Backspace)
    assert treemap.inside is None


def test_the_map_speaks(treemap):
    treemap.setFocus()
    QTest.keyClick(treemap, Qt.Key.Key_End)
    assert treemap.accessibleDescription().startswith("task: 100 tokens, 10.0% of the request, message 0. Arrows move")


def test_what_fills_the_map_stays_while_it_is_there(treemap):
    treemap.open("files")
    treemap.set_slices([part("files", 500, [part("a.py", 300), part("c.py", 200)]), part("user", 100)])
    assert names(treemap) == ["files", "a.py", "c.py"]
    treemap.set_slices([part("user", 100)])
    assert treemap.inside is None


def test_the_map_paints_and_tells(treemap, qapp):
    blank = Treemap()
    blank.resize(400, 300)
    assert treemap.grab().toImage() != blank.grab().toImage()
    place = QPoint(10, 60)
    assert treemap.event(QHelpEvent(QHelpEvent.Type.ToolTip, place, treemap.mapToGlobal(place)))


def test_panels_follow_the_theme(make):
    from ctxviewer.views import theme

    look = theme.current()
    panel = make(DifferencePanel)
    assert isinstance(panel, AnswerPanel)
    try:
        look.set_scale(1.4)
        assert panel.head.contentsMargins().left() == look.px(12)
    finally:
        look.reset_zoom()
