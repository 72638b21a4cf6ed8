/** The tables, as migrations. A migration that has shipped is never changed; a new one is added after it. */

// A row that an older ralph damaged must not keep the others from being read. SQLite recognizes an index expression
// only if it is written the same way.
export const BENT = `CASE json_valid(tally) WHEN 1 THEN json_extract(tally, '$.bent') END`
export const FINDINGS = `CASE json_valid(tally) WHEN 1 THEN json_array_length(tally, '$.findings') END`
export const PARENT = `CASE json_valid(spec) WHEN 1 THEN json_extract(spec, '$.work.parent.loop') END`

/** A field of its owner. `of`: which loop, if there are several. */
export function ownerField(field: 'task' | 'name' | 'path' | 'id', of = ''): string {
  return `CASE json_valid(${of}spec) WHEN 1 THEN json_extract(${of}spec, '$.work.owner.${field}') END`
}

/** `adopt`: loops in the format of the previous ralph are converted to the current one. */
export const MIGRATIONS: readonly (string | 'adopt')[] = [
  `CREATE TABLE loop (
     id TEXT PRIMARY KEY, dir TEXT NOT NULL, agent TEXT NOT NULL, prompt TEXT NOT NULL,
     spec TEXT NOT NULL, tally TEXT NOT NULL, next TEXT NOT NULL,
     status TEXT NOT NULL, reason TEXT, proof TEXT,
     iteration INTEGER NOT NULL, iteration_limit INTEGER NOT NULL, false_claims INTEGER NOT NULL,
     tokens INTEGER NOT NULL, cost_usd REAL NOT NULL,
     epoch INTEGER NOT NULL DEFAULT 0, holder TEXT NOT NULL DEFAULT '', events INTEGER NOT NULL DEFAULT 0,
     started_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX loop_by_time ON loop (started_at);
   CREATE TABLE iteration (
     loop TEXT NOT NULL REFERENCES loop (id), n INTEGER NOT NULL, attempts INTEGER NOT NULL,
     started_at INTEGER NOT NULL, ended_at INTEGER NOT NULL, agent TEXT NOT NULL,
     "end" TEXT NOT NULL, claim TEXT NOT NULL, changed INTEGER, tokens INTEGER NOT NULL, cost_usd REAL, words TEXT NOT NULL,
     PRIMARY KEY (loop, n)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE check_result (
     loop TEXT NOT NULL REFERENCES loop (id), iteration INTEGER NOT NULL, position INTEGER NOT NULL,
     "check" TEXT NOT NULL, result TEXT NOT NULL, failures INTEGER, tail TEXT NOT NULL,
     PRIMARY KEY (loop, iteration, position)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE event (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, loop TEXT NOT NULL REFERENCES loop (id), n INTEGER NOT NULL,
     at INTEGER NOT NULL, fact TEXT NOT NULL, next TEXT NOT NULL, UNIQUE (loop, n)
   ) STRICT;
   CREATE TABLE told (
     id INTEGER PRIMARY KEY AUTOINCREMENT, loop TEXT NOT NULL REFERENCES loop (id), at INTEGER NOT NULL,
     by TEXT NOT NULL, "order" TEXT NOT NULL
   ) STRICT;
   CREATE INDEX told_by_loop ON told (loop, id);`,
  `ALTER TABLE iteration ADD COLUMN files INTEGER;
   ALTER TABLE iteration ADD COLUMN added INTEGER;
   ALTER TABLE iteration ADD COLUMN removed INTEGER;`,
  `CREATE TABLE project (
     folder TEXT PRIMARY KEY, record TEXT NOT NULL, updated_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;`,
  `CREATE TABLE task (
     vault TEXT NOT NULL, id TEXT NOT NULL, loop TEXT NOT NULL REFERENCES loop (id), record TEXT NOT NULL,
     PRIMARY KEY (vault, id)
   ) STRICT, WITHOUT ROWID;`,
  `ALTER TABLE loop ADD COLUMN owner TEXT NOT NULL DEFAULT 'person';
   UPDATE loop SET owner = CASE WHEN json_type(spec, '$.work.vault') IS NOT NULL THEN 'vault' ELSE 'project' END
   WHERE json_type(spec, '$.work.vault') IS NOT NULL OR json_type(spec, '$.work.project') IS NOT NULL;
   CREATE INDEX loop_by_status ON loop (status, started_at);
   CREATE INDEX loop_by_owner ON loop (owner, started_at);
   CREATE INDEX loop_by_dir ON loop (dir, started_at);`,
  'adopt',
  // An older ralph that has the database open would keep writing loops in its own format.
  ...['INSERT', 'UPDATE OF spec, tally'].map(
    (writes, n) => `CREATE TRIGGER older_ralph_${n} BEFORE ${writes} ON loop
     WHEN json_type(NEW.spec, '$.work.vault') IS NOT NULL OR json_type(NEW.spec, '$.work.project') IS NOT NULL
       OR json_type(NEW.tally, '$.said[0]') = 'text'
     BEGIN SELECT RAISE(ABORT, 'a newer ralph has opened this database; start this one again'); END;`,
  ),
  // Grades, and findings as data.
  'adopt',
  ...['INSERT', 'UPDATE OF tally, next'].map(
    (writes, n) => `CREATE TRIGGER older_proof_${n} BEFORE ${writes} ON loop
     WHEN json_type(NEW.tally, '$.findings[0]') = 'text'
       OR json_extract(NEW.next, '$.kind') = 'complete' AND json_type(NEW.next, '$.sentence') IS NULL
     BEGIN SELECT RAISE(ABORT, 'a newer ralph has opened this database; start this one again'); END;`,
  ),
  `CREATE TABLE pane (
     crew TEXT NOT NULL, name TEXT NOT NULL, record TEXT NOT NULL, PRIMARY KEY (crew, name)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE pane_mail (
     id INTEGER PRIMARY KEY AUTOINCREMENT, crew TEXT NOT NULL, name TEXT NOT NULL, at INTEGER NOT NULL, mail TEXT NOT NULL
   ) STRICT;
   CREATE INDEX pane_mail_by_crew ON pane_mail (crew, id);
   CREATE TABLE pane_change (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, crew TEXT NOT NULL, name TEXT NOT NULL, at INTEGER NOT NULL, change TEXT NOT NULL
   ) STRICT;`,
  // The board, requests to a loop from outside, and what history shows.
  `CREATE TABLE board_task (
     id TEXT PRIMARY KEY, project_id TEXT, title TEXT NOT NULL, status TEXT NOT NULL, priority INTEGER NOT NULL,
     archived INTEGER NOT NULL, loop TEXT, version INTEGER NOT NULL, created_at INTEGER NOT NULL, record TEXT NOT NULL
   ) STRICT;
   CREATE INDEX board_task_by_time ON board_task (created_at);
   CREATE INDEX board_task_by_status ON board_task (status, created_at);
   CREATE INDEX board_task_by_loop ON board_task (loop);
   CREATE TABLE board_group (id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT, WITHOUT ROWID;
   CREATE TABLE board_change (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, change TEXT NOT NULL
   ) STRICT;
   CREATE TABLE comment (
     id INTEGER PRIMARY KEY AUTOINCREMENT, loop TEXT NOT NULL REFERENCES loop (id), at INTEGER NOT NULL,
     comment TEXT NOT NULL, hearer TEXT NOT NULL, delivered INTEGER
   ) STRICT;
   CREATE INDEX comment_by_loop ON comment (loop, id);
   CREATE INDEX comment_by_hearer ON comment (hearer, id);
   -- Who takes a turn elsewhere, as a session does, only tells that it is over: then what that turn was told has arrived.
   CREATE TRIGGER comment_delivered AFTER INSERT ON iteration BEGIN
     UPDATE comment SET delivered = NEW.n WHERE hearer = NEW.loop AND delivered IS NULL AND id IN (
       SELECT value FROM json_each((
         SELECT next FROM event WHERE loop = NEW.loop ORDER BY n DESC LIMIT 1 OFFSET 1
       ), '$.comments'));
   END;
   CREATE TABLE pass (
     hash TEXT PRIMARY KEY, loop TEXT NOT NULL REFERENCES loop (id), iteration INTEGER NOT NULL, attempt INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE report (
     id INTEGER PRIMARY KEY AUTOINCREMENT, loop TEXT NOT NULL REFERENCES loop (id), iteration INTEGER NOT NULL,
     attempt INTEGER NOT NULL, at INTEGER NOT NULL, report TEXT NOT NULL
   ) STRICT;
   CREATE INDEX report_by_turn ON report (loop, iteration, attempt);
   CREATE TABLE answer (
     key TEXT PRIMARY KEY, input TEXT NOT NULL, answer TEXT, at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   ALTER TABLE loop ADD COLUMN type TEXT GENERATED ALWAYS AS (CASE json_valid(spec) WHEN 1 THEN json_extract(spec, '$.work.type') END) VIRTUAL;
   ALTER TABLE loop ADD COLUMN size TEXT GENERATED ALWAYS AS (CASE json_valid(spec) WHEN 1 THEN json_extract(spec, '$.work.size') END) VIRTUAL;
   ALTER TABLE iteration ADD COLUMN tokens_in INTEGER;
   ALTER TABLE iteration ADD COLUMN tokens_cached INTEGER;
   ALTER TABLE iteration ADD COLUMN tokens_out INTEGER;
   CREATE INDEX check_result_by_check ON check_result ("check", result);
   CREATE INDEX iteration_by_tokens ON iteration (loop, tokens_in, tokens_cached, tokens_out);
   CREATE INDEX loop_numbers ON loop (
     started_at, id, dir, agent, owner, type, size, status, reason, proof, iteration, iteration_limit, false_claims, tokens, cost_usd,
     updated_at, ${BENT}, ${FINDINGS}
   );`,
  // What a page shows of many loops at once: the means of proof, what a person has seen, what waits for them.
  `ALTER TABLE iteration ADD COLUMN weakened INTEGER NOT NULL DEFAULT 0;
   UPDATE iteration SET weakened = 1 WHERE (loop, n) IN (
     SELECT event.loop, (SELECT max(n) FROM iteration AS its WHERE its.loop = event.loop AND its.ended_at <= event.at)
     FROM event, json_each(CASE json_valid(event.fact) WHEN 1 THEN event.fact ELSE '{}' END, '$.findings') AS found
     WHERE instr(event.fact, '"findings":[{') > 0 AND CASE found.type WHEN 'object' THEN json_extract(found.value, '$.kind') END IN (
       'tests-changed', 'tests-deleted', 'tests-skipped', 'means-changed', 'means-deleted', 'runner-changed', 'fewer-tests'));
   CREATE TABLE seen (loop TEXT PRIMARY KEY REFERENCES loop (id), n INTEGER NOT NULL) STRICT, WITHOUT ROWID;
   CREATE INDEX iteration_by_end ON iteration (ended_at, cost_usd);
   CREATE INDEX board_task_by_shelf ON board_task (archived, status);
   CREATE INDEX loop_halted ON loop (updated_at) WHERE status = 'halted';
   CREATE INDEX loop_by_parent ON loop (${PARENT}) WHERE ${PARENT} IS NOT NULL;
   CREATE INDEX loop_of_project ON loop (dir, ${ownerField('task')}, ${ownerField('name')}, started_at) WHERE owner = 'project';`,
]
