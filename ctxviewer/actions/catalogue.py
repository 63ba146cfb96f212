"""The table of everything a user can do. Nothing else in the program names a shortcut."""
# ruff: noqa: E501 - one row a line reads as a table

from __future__ import annotations

from types import MappingProxyType

from ctxviewer.actions.spec import ActionSpec, Menu, Need

_WRITES = (Need.READABLE, Need.IDLE)

CATALOGUE: tuple[ActionSpec, ...] = (
    # -- task
    ActionSpec("task.open", "&Open folder…", Menu.TASK, "Open a task, or a folder that holds tasks.", ("Ctrl+O",), icon="open"),
    ActionSpec("task.samples", "Open the &samples", Menu.TASK, "Open the small invented tasks that come with ctxviewer.", needs=(Need.SAMPLES,), icon="app"),
    ActionSpec("task.reload", "&Read again", Menu.TASK, "Read the files of the task again and look for new tasks.", ("F5",), icon="reload"),
    ActionSpec("task.export", "E&xport…", Menu.TASK, "Write the task, a request as sent, its usage, a picture or a bug report to a file; secrets are masked.", ("Ctrl+Shift+S",), needs=(Need.TASK,), icon="export"),
    ActionSpec("task.folder", "Show in &file manager", Menu.TASK, "Open the task's folder in the file manager.", needs=(Need.TASK,), icon="root", separator=True),
    ActionSpec("task.copy-path", "Copy &path", Menu.TASK, "Copy the path of the task's folder.", needs=(Need.TASK,), icon="copy"),
    ActionSpec("task.window", "Model &window…", Menu.TASK, "Set the size of the model's context window for this task.", needs=(Need.TASK,), icon="window"),
    ActionSpec("task.close", "&Close task", Menu.TASK, "Show no task.", ("Ctrl+W",), needs=(Need.TASK,), icon="close"),
    ActionSpec("app.preferences", "Pr&eferences…", Menu.TASK, "Theme, font, folders that are looked through, and where backups are kept.", ("Ctrl+,",), icon="settings", separator=True),
    ActionSpec("app.quit", "&Quit", Menu.TASK, "Close the window. Nothing is lost: reading never writes.", ("Ctrl+Q",), separator=True),
    # -- edit
    ActionSpec("edit.undo", "&Undo", Menu.EDIT, "Take back the newest change of this task.", ("Ctrl+Z",), needs=(Need.TASK, Need.IDLE, Need.UNDO), icon="undo", destructive=True),
    ActionSpec("edit.redo", "&Redo", Menu.EDIT, "Do again what was undone last.", ("Ctrl+Shift+Z", "Ctrl+Y"), needs=(Need.TASK, Need.IDLE, Need.REDO), icon="redo", destructive=True),
    ActionSpec("edit.copy", "&Copy", Menu.EDIT, "Copy the selected text.", ("Ctrl+C",), icon="copy", separator=True),
    ActionSpec("edit.select-all", "Select &all", Menu.EDIT, "Select the text of the whole conversation.", ("Ctrl+A",), needs=(Need.READABLE,)),
    ActionSpec("edit.find", "&Find in the task", Menu.EDIT, "Find words in the conversation.", ("Ctrl+F",), needs=(Need.READABLE,), icon="find", separator=True),
    ActionSpec("edit.find-next", "Find &next", Menu.EDIT, "Go to the next place where the words are found.", ("F3",), needs=(Need.READABLE,), icon="down"),
    ActionSpec("edit.find-previous", "Find &previous", Menu.EDIT, "Go to the place before where the words are found.", ("Shift+F3",), needs=(Need.READABLE,), icon="up"),
    ActionSpec("edit.filter", "Filter &tasks", Menu.EDIT, "Go to the field that filters the list of tasks.", ("Ctrl+L",), icon="filter"),
    # -- view
    ActionSpec("view.sent", "As &sent", Menu.VIEW, "Show what the model received, with updates and repairs.", ("Ctrl+1",), checkable=True, icon="sent"),
    ActionSpec("view.stored", "As s&tored", Menu.VIEW, "Show the text in the file.", ("Ctrl+2",), checkable=True, icon="file"),
    ActionSpec("view.difference", "&Difference", Menu.VIEW, "Show what was taken out of the stored text and put in.", ("Ctrl+3",), checkable=True, icon="difference"),
    ActionSpec("view.compact", "Only the first &words", Menu.VIEW, "Show one line of each message; Enter opens the chosen one.", ("Ctrl+4",), checkable=True, icon="collapse", separator=True),
    ActionSpec("view.fold-hidden", "&Fold what is not sent", Menu.VIEW, "Show one line instead of each stretch that is not sent.", ("Ctrl+Shift+F",), needs=(Need.READABLE,), icon="condense"),
    ActionSpec("view.unfold", "&Unfold everything", Menu.VIEW, "Show every message that is not sent.", ("Ctrl+Shift+G",), needs=(Need.READABLE,), icon="hidden"),
    ActionSpec("view.zoom-in", "Zoom &in", Menu.VIEW, "Make everything larger.", ("Ctrl++", "Ctrl+="), icon="zoom-in", separator=True),
    ActionSpec("view.zoom-out", "Zoom &out", Menu.VIEW, "Make everything smaller.", ("Ctrl+-",), icon="zoom-out"),
    ActionSpec("view.zoom-reset", "&Normal size", Menu.VIEW, "Back to 100 %.", ("Ctrl+0",)),
    ActionSpec("view.theme-system", "As the &system", Menu.VIEW, "Follow the colours of the desktop.", checkable=True, submenu="T&heme"),
    ActionSpec("view.theme-light", "&Light", Menu.VIEW, "Dark words on a light ground.", checkable=True, submenu="T&heme"),
    ActionSpec("view.theme-dark", "&Dark", Menu.VIEW, "Light words on a dark ground.", checkable=True, submenu="T&heme"),
    ActionSpec("view.theme-contrast", "&High contrast", Menu.VIEW, "Black and white, with doubled patterns.", checkable=True, submenu="T&heme"),
    ActionSpec("view.proportional", "&Proportional text", Menu.VIEW, "Show messages in the font of the window instead of the fixed one.", checkable=True),
    ActionSpec("view.panel-tasks", "&Tasks", Menu.VIEW, "Show or hide the list of tasks.", ("Ctrl+Shift+T",), checkable=True, submenu="P&anels", separator=True),
    ActionSpec("view.panel-details", "&Details", Menu.VIEW, "Show or hide what is known of the chosen message and request.", ("Ctrl+Shift+D",), checkable=True, submenu="P&anels"),
    ActionSpec("view.panel-difference", "D&ifference", Menu.VIEW, "Show or hide what has changed since a reference request.", checkable=True, submenu="P&anels"),
    ActionSpec("view.panel-facts", "F&acts", Menu.VIEW, "Show or hide the facts that are followed through all requests.", checkable=True, submenu="P&anels"),
    ActionSpec("view.panel-losses", "Lo&sses", Menu.VIEW, "Show or hide what the shown request no longer knows.", checkable=True, submenu="P&anels"),
    ActionSpec("view.panel-tokens", "T&okens", Menu.VIEW, "Show or hide where the tokens of the shown request go.", checkable=True, submenu="P&anels"),
    ActionSpec("view.panel-events", "&Events", Menu.VIEW, "Show or hide what changed the context, in order.", ("Ctrl+Shift+E",), checkable=True, submenu="P&anels"),
    ActionSpec("view.panel-checkpoints", "&Checkpoints", Menu.VIEW, "Show or hide the points that the task can be rolled back to.", ("Ctrl+Shift+K",), checkable=True, submenu="P&anels"),
    ActionSpec("view.panel-findings", "&Findings", Menu.VIEW, "Show or hide what is odd or damaged in the task's files.", ("Ctrl+Shift+N",), checkable=True, submenu="P&anels"),
    ActionSpec("view.panel-history", "&History", Menu.VIEW, "Show or hide the changes made with ctxviewer.", ("Ctrl+Shift+H",), checkable=True, submenu="P&anels"),
    ActionSpec("view.panel-usage", "&Usage", Menu.VIEW, "Show or hide the graph of tokens per request.", ("Ctrl+Shift+U",), checkable=True, submenu="P&anels"),
    ActionSpec("view.panel-lab", "&Lab", Menu.VIEW, "Show or hide the lab: strategies step by step, side by side, over the whole task.", ("Ctrl+Shift+B",), checkable=True, submenu="P&anels", icon="lab"),
    ActionSpec("view.next-pane", "Next pa&ne", Menu.VIEW, "Move the focus to the next pane.", ("F6",), submenu="P&anels", separator=True),
    ActionSpec("view.previous-pane", "&Previous pane", Menu.VIEW, "Move the focus to the pane before.", ("Shift+F6",), submenu="P&anels"),
    ActionSpec("view.reset-layout", "&Restore the layout", Menu.VIEW, "Put every panel back where it was on the first day.", submenu="P&anels", separator=True),
    # -- request
    ActionSpec("request.first", "&First request", Menu.REQUEST, "Show what the first request sent.", ("Alt+Home",), ("Home",), (Need.REQUESTS, Need.EARLIER), icon="first"),
    ActionSpec("request.previous", "&Previous request", Menu.REQUEST, "Show what the request before sent.", ("Alt+Left",), ("Left",), (Need.REQUESTS, Need.EARLIER), icon="previous"),
    ActionSpec("request.next", "&Next request", Menu.REQUEST, "Show what the next request sent; after the newest one, live.", ("Alt+Right",), ("Right",), (Need.REQUESTS, Need.LATER), icon="next"),
    ActionSpec("request.last", "&Last request", Menu.REQUEST, "Show what the newest request sent, and stay there.", ("Alt+End",), ("End",), (Need.REQUESTS,), icon="last"),
    ActionSpec("request.live", "L&ive", Menu.REQUEST, "Follow the task: show what the next request would start from.", ("Ctrl+Shift+L",), ("Esc",), (Need.TASK,), icon="live", checkable=True),
    ActionSpec("request.go-to", "&Go to request…", Menu.REQUEST, "Choose a request by its number.", ("Ctrl+G",), needs=(Need.REQUESTS,), icon="jump"),
    ActionSpec("request.previous-event", "Change of context &before", Menu.REQUEST, "Show the request before at which the context was changed.", ("Alt+PgUp",), needs=(Need.REQUESTS, Need.EVENT_BEFORE), icon="up", separator=True),
    ActionSpec("request.next-event", "Change of context &after", Menu.REQUEST, "Show the next request at which the context was changed.", ("Alt+PgDown",), needs=(Need.REQUESTS, Need.EVENT_AFTER), icon="down"),
    # -- ask
    ActionSpec("ask.why", "&Why was it sent so?", Menu.ASK, "Show the decision behind the shown request, with its numbers.", ("Alt+1",), needs=(Need.TASK,), icon="details"),
    ActionSpec("ask.difference", "What has &changed?", Menu.ASK, "Compare the shown request with the one before, or with a reference.", ("Alt+2",), needs=(Need.READABLE,), icon="difference"),
    ActionSpec("ask.facts", "When was it s&ent?", Menu.ASK, "Follow words, a file or a message through all requests.", ("Alt+3",), needs=(Need.READABLE,), icon="fact"),
    ActionSpec("ask.losses", "What was &lost?", Menu.ASK, "Show what the shown request no longer knows, heaviest first.", ("Alt+4",), needs=(Need.READABLE,), icon="losses"),
    ActionSpec("ask.tokens", "Where do the &tokens go?", Menu.ASK, "Show what the shown request is made of, and whether the numbers hold.", ("Alt+5",), needs=(Need.READABLE,), icon="tokens"),
    ActionSpec("ask.findings", "What is &odd?", Menu.ASK, "Show what is odd about the task and its files, what it means and what to do.", ("Alt+6",), needs=(Need.TASK,), icon="warning"),
    ActionSpec("ask.track", "Track the &selection", Menu.ASK, "Follow the selected words, or the chosen message, through all requests.", ("Ctrl+I",), needs=(Need.READABLE,), icon="fact", separator=True),
    ActionSpec("ask.mark", "&Mark as reference", Menu.ASK, "Compare with the shown request from now on, whichever other one is shown.", ("Ctrl+M",), needs=(Need.REQUESTS, Need.PINNED), icon="pinned"),
    # -- act
    ActionSpec("act.truncate-half", "Keep &half", Menu.ACT, "Send half of the messages: leave out the older half, but not the first pair.", ("Ctrl+T",), needs=_WRITES, destructive=True, submenu="&Truncate", icon="truncate"),
    ActionSpec("act.truncate-quarter", "Keep a &quarter", Menu.ACT, "Send a quarter of the messages: leave out the older three quarters, but not the first pair.", needs=_WRITES, destructive=True, submenu="&Truncate"),
    ActionSpec("act.truncate-last-two", "Keep the &last two", Menu.ACT, "Send the first pair and the last pair of messages.", needs=_WRITES, destructive=True, submenu="&Truncate"),
    ActionSpec("act.truncate-none", "Keep the &first pair only", Menu.ACT, "Send the first pair of messages and nothing else.", needs=_WRITES, destructive=True, submenu="&Truncate"),
    ActionSpec("act.optimize", "&Optimize file reads", Menu.ACT, "Replace older copies of files that were read more than once by a short notice.", ("Ctrl+Shift+O",), needs=_WRITES, destructive=True, icon="optimize"),
    ActionSpec("act.decide", "What would the &agent do now?", Menu.ACT, "Work out the agent's own decision for its next request, with the window that is set.", ("Ctrl+D",), needs=_WRITES, destructive=True, icon="decide"),
    ActionSpec("act.rollback", "&Roll back…", Menu.ACT, "Go back to a checkpoint: messages and updates after it are taken away, its range comes back.", ("Ctrl+R",), needs=(*_WRITES, Need.CHECKPOINT), destructive=True, icon="rollback", separator=True),
    ActionSpec("act.rollback-message", "Roll back to the chosen &message", Menu.ACT, "Make the chosen message the last one of the conversation.", ("Ctrl+Shift+R",), needs=(*_WRITES, Need.MESSAGE), destructive=True, icon="rollback"),
    ActionSpec("act.apply", "A&pply the what-if…", Menu.ACT, "Show what would be written for the what-if, and apply it.", ("Ctrl+Return",), needs=(*_WRITES, Need.PLAN, Need.WRITABLE_PLAN), destructive=True, icon="apply", separator=True),
    ActionSpec("act.drop", "&Drop the what-if", Menu.ACT, "Look at the task as it is again.", ("Ctrl+Backspace",), needs=(Need.PLAN,), icon="close"),
    # -- lab
    ActionSpec("lab.step", "&Step", Menu.LAB, "Do the next step of the strategy that is chosen in the lab.", ("F8",), needs=(Need.READABLE, Need.STEP_ON), icon="step"),
    ActionSpec("lab.back", "Step &back", Menu.LAB, "Take the last step back.", ("Shift+F8",), needs=(Need.READABLE, Need.STEP_BACK), icon="back"),
    ActionSpec("lab.play", "&Play", Menu.LAB, "Do the steps one after the other, or stop.", ("F7",), needs=(Need.READABLE,), icon="play", checkable=True),
    ActionSpec("lab.run", "&Run to the end", Menu.LAB, "Do all steps, or stop before a message or file that is watched goes.", ("Ctrl+F8",), needs=(Need.READABLE, Need.STEP_ON), icon="run"),
    ActionSpec("lab.reset", "To the s&tart", Menu.LAB, "Stand before the first step.", ("Ctrl+Shift+F8",), needs=(Need.READABLE, Need.STEP_BACK), icon="reset"),
    ActionSpec("lab.break-message", "Stop before the chosen &message goes", Menu.LAB, "Let steps stop right before the chosen message is sent no more; again takes it back.", ("F9",), needs=(Need.READABLE, Need.MESSAGE), icon="break", separator=True),
    ActionSpec("lab.compare", "&Compare the strategies", Menu.LAB, "Put all strategies side by side at the shown request.", ("Ctrl+Shift+M",), needs=(Need.READABLE,), icon="compare", separator=True),
    ActionSpec("lab.replay", "Replay &over the whole task", Menu.LAB, "Let strategies run from the first request on, and check what the agent did.", ("Ctrl+Shift+P",), needs=(Need.CHECKABLE,), icon="replay"),
    # -- help
    ActionSpec("help.shortcuts", "&Keyboard shortcuts", Menu.HELP, "Show every action with its keys.", ("F1",), icon="help"),
    ActionSpec("help.legend", "&What the signs mean", Menu.HELP, "Explain hatching, stripes and the other signs of the conversation."),
    ActionSpec("help.diagnostics", "Copy &diagnostics", Menu.HELP, "Copy versions, paths and counts for a bug report; no text of any conversation.", icon="copy"),
    ActionSpec("help.about", "&About ctxviewer", Menu.HELP, "Version and licence.", icon="info", separator=True),
)  # fmt: skip
"""In the order of the menus."""

BY_ID = MappingProxyType({spec.id: spec for spec in CATALOGUE})
