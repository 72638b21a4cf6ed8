#!/bin/sh
# ralph: starts Node only if this session has a loop. Usage: hook.sh stop|prompt, with the payload on stdin.
event=$1
here=${0%/*}
# `ralph install` puts its copy in ralph's home, next to a link to the program.
program=$here/hook.cjs
if [ -e "$program" ]; then home=${RALPH_HOME:-$here}; else home=${RALPH_HOME:-$HOME/.ralph}; fi

# Droid's one-shot mode does not tell a hook what was typed; the transcript has it.
typed_in_droid() {
  [ -n "$FACTORY_PROJECT_DIR" ] && grep -q '/ralph[:-]\|"ralph:' "$transcript_path" 2>/dev/null
}

[ -e "$program" ] || program=$here/../../dist/hook.cjs
[ -e "$program" ] || program=$home/hook.cjs
node=${RALPH_NODE:-$home/node}

# Claude Code names its session. If that has a loop, there is nothing more to find out.
id=$CLAUDE_CODE_SESSION_ID
if [ "$event" = stop ] && [ -n "$id" ] && [ -e "$home/armed/$id" ] && [ -x "$node" ] && [ -e "$program" ]; then
  RALPH_HOME=$home exec "$node" "$program"
fi

# Does any session have a loop? Unneeded input is read anyway, or the host would write into a closed pipe.
set -- "$home"/armed/*
[ -e "$1" ] || [ "$event" = prompt ] || typed_in_droid || exec cat >/dev/null

payload=$(cat)
mine=
for armed; do
  case $payload in *"${armed##*/}"*) [ -e "$armed" ] && mine=1 ;; esac
done
if [ -z "$mine" ]; then
  if [ "$event" = prompt ]; then
    case $payload in *ralph[:.-][lcshpr][aeot]* | *cancel-ralph* | *'COMPLETION CRITERIA:'*) ;; *) exit 0 ;; esac
  else
    typed_in_droid || exit 0
  fi
fi

# Gemini runs tools all the time. Only one that the user stopped matters.
case $payload in *'"hook_event_name":"AfterTool"'*) case $payload in *'cancelled by user'*) ;; *) exit 0 ;; esac ;; esac

[ -x "$node" ] || node=$(command -v node)
[ -e "$program" ] || program=$(command -v ralph)
if [ -n "$node" ] && [ -e "$program" ]; then
  case $program in *.cjs) set -- "$event" ;; *) set -- hook "$event" ;; esac
  printf '%s' "$payload" | RALPH_HOME=$home "$node" "$program" "$@"
  # Droid shows the answer to a command only with this exit code.
  [ $? = 2 ] && [ "$event" = prompt ] && [ -n "$FACTORY_PROJECT_DIR" ] && exit 2
  exit 0
fi

# Said only once: the session continues without ralph.
[ -e "$home/hook-missing" ] && exit 0
# In a subshell: one that cannot write would exit here, and its exit code would trap the session.
(mkdir -p "$home" && : >"$home/hook-missing") 2>/dev/null
if [ -e "$program" ]; then missing='Node 22.19 or newer'; else missing='the ralph program (npm install -g ralphloop)'; fi
printf '{"systemMessage":"ralph cannot run in this session: %s was not found. Install it, then run: ralph install AGENT"}\n' "$missing"
exit 0
