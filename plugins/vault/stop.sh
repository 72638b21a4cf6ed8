#!/bin/sh
# ralph: a session that works on a task of this vault may stop once the task's file is in Done; until then Node decides.
# Usage: stop.sh [TASK], with the payload on stdin. `ralph install` fills in these three; the environment overrides them.
home=$HOME/.ralph
state=Ralph_State
finished=Done

# Unneeded input is read anyway, or the host would write into a closed pipe.
pass() { exec cat >/dev/null; }
unknown() {
  echo '{"systemMessage":"ralph: this vault has no task with that name, so the session may stop. `ralph task list` lists its tasks."}'
  pass
}

[ -z "$RALPH_LOOP_ID" ] || pass # an agent that ralph itself started
vault=${0%/.claude/hooks/*}
[ "$vault" != "$0" ] || vault=${CLAUDE_PROJECT_DIR:-.}
node=${RALPH_NODE:-$home/node}
program=$home/hook.cjs
home=${RALPH_HOME:-$home}
state=${RALPH_STATE_DIR:-$state}
finished=${RALPH_DONE_FOLDER:-$finished}
case $state in /*) ;; *) state=$vault/$state ;; esac
case $finished in /*) ;; *) finished=$vault/$finished ;; esac

task=${1:-$RALPH_TASK_ID}
if [ -z "$task" ]; then
  case $CLAUDE_CODE_SESSION_ID in '' | */*) pass ;; esac
  session=$state/.hook/session.$CLAUDE_CODE_SESSION_ID
  [ -f "$session" ] && [ -r "$session" ] || pass
  IFS= read -r task <"$session"
fi
case $task in /* | ../* | */../*) unknown ;; esac # it must stay inside the folder
given=${task##*/}
task=$given
[ -f "$state/.hook/$task" ] || [ -f "$state/$task.json" ] || task=${task%.*}
case $task in '' | .*) unknown ;; esac
if [ ! -f "$state/.hook/$task" ]; then [ -f "$state/$task.json" ] && pass || unknown; fi
[ -r "$state/.hook/$task" ] || pass
{
  IFS= read -r name
  IFS= read -r checks
} <"$state/.hook/$task"
[ "$task" = "$given" ] || [ "$name" = "$given" ] || unknown

[ -x "$node" ] || node=$(command -v node)
[ -e "$program" ] || program=$(command -v ralph)
case $program in *.cjs) set -- task ;; *) set -- hook task ;; esac

moved=
case $name in '' | */*) ;; *) [ ! -f "$finished/$name" ] || [ -L "$finished/$name" ] || moved=1 ;; esac
if [ -n "$moved" ] && [ -z "$checks" ]; then
  folder=/${finished#"$vault"/}/
  case $folder in //* | *[\"\\[:cntrl:]]*) folder=its ;; esac # not valid in JSON as is
  printf '{"systemMessage":"✅ Task complete! File found in %s folder."}\n' "$folder"
  [ -n "$node" ] && [ -e "$program" ] || pass
  # The turn is counted in the background: the session need not wait for Node.
  {
    RALPH_HOME=$home RALPH_TASK_ID=$task "$node" "$program" "$@" "$vault" <&3 3<&- >/dev/null 2>&1 &
  } 3<&0
  exit 0
fi
if [ -n "$node" ] && [ -e "$program" ]; then
  RALPH_HOME=$home RALPH_TASK_ID=$task exec "$node" "$program" "$@" "$vault"
fi

# Said only once: the session continues without ralph.
[ ! -e "$home/hook-missing" ] || pass
# In a subshell: one that cannot write would exit here, and its exit code would trap the session.
(mkdir -p "$home" && : >"$home/hook-missing") 2>/dev/null
if [ -e "$program" ]; then missing='Node 22.19 or newer'; else missing='the ralph program (npm install -g ralphloop)'; fi
printf '{"systemMessage":"ralph cannot continue this task: %s was not found. Install it, then run: ralph install claude --vault DIR"}\n' "$missing"
pass
