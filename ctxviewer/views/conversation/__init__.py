"""The conversation: our own virtualised view over pieces of text. See `view.ConversationView`."""

from ctxviewer.views.conversation.view import ContextRequest, ConversationView

__all__ = ["ContextRequest", "ConversationView"]
