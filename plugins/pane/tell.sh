#!/bin/sh
# ralph: tells the dispatcher what happens in a pane. Usage: tell.sh EVENT, the payload on stdin.
# It prints nothing and never fails: clients take what a hook prints, and how it ends, for an answer.

# What is not needed is read all the same, or the client would write into a closed pipe.
pass() { exec cat >/dev/null; }
tell() { "$RALPH_PANE_NODE" "$RALPH_PANE_HOOK" >/dev/null 2>&1; }

[ -x "$RALPH_PANE_NODE" ] && [ -n "$RALPH_PANE_HOOK" ] || pass

case $1 in
PermissionRequest | Notification)
  # In a shell of its own: one that cannot write would end here.
  (: >"$RALPH_PANE_ASKS") 2>/dev/null
  ;;
PostToolUse | PostToolUseFailure)
  # Tools run all the time, and Node is slow to start. Only the first one after a question tells something: it was answered.
  [ -e "$RALPH_PANE_ASKS" ] || pass
  rm -f "$RALPH_PANE_ASKS" 2>/dev/null
  ;;
PostModelRequest | ErrorOccurred)
  payload=$(cat)
  case $payload in *'"status":"failed"'* | *'"ErrorOccurred"'*) ;; *) exit 0 ;; esac
  # Whether the client tries again is known only when this has ended and let go of its pipes, so somebody else waits for that.
  { printf '%s' "$payload" | tell; } </dev/null >/dev/null 2>&1 &
  exit 0
  ;;
*) rm -f "$RALPH_PANE_ASKS" 2>/dev/null ;;
esac
tell
exit 0
