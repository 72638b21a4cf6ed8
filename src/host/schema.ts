/** The tables, as steps forward. A step that has shipped is never changed; a new one is added behind it. */

/** `adopt`: loops in the words of the ralph before are brought into those of this one. */
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
  // An older ralph that has the database open would go on writing loops in its own words.
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
]
