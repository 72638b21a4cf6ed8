#!/bin/sh
# ralph: reports to the dispatcher what happens in a pane. Usage: tell.sh EVENT, with the payload on stdin.
# Prints nothing and never fails: clients treat a hook's output and exit code as an answer.

# Unneeded input is read anyway, or the client would write into a closed pipe.
pass() { exec cat >/dev/null; }
tell() { "$RALPH_PANE_NODE" "$RALPH_PANE_HOOK" >/dev/null 2>&1; }

[ -x "$RALPH_PANE_NODE" ] && [ -n "$RALPH_PANE_HOOK" ] || pass

case $1 in
PermissionRequest | Notification)
  # In a subshell: one that cannot write would exit here.
  (: >"$RALPH_PANE_ASKS") 2>/dev/null
  ;;
PostToolUse | PostToolUseFailure)
  # Tools run all the time, and Node is slow to start. Only the first one after a question matters: it was answered.
  [ -e "$RALPH_PANE_ASKS" ] || pass
  rm -f "$RALPH_PANE_ASKS" 2>/dev/null
  ;;
PostModelRequest | ErrorOccurred)
  payload=$(cat)
  case $payload in *'"status":"failed"'* | *'"ErrorOccurred"'*) ;; *) exit 0 ;; esac
  # Whether the client retries is known only once this has exited and released its pipes, so a background process waits for that.
  { printf '%s' "$payload" | tell; } </dev/null >/dev/null 2>&1 &
  exit 0
  ;;
*) rm -f "$RALPH_PANE_ASKS" 2>/dev/null ;;
esac
tell
exit 0
