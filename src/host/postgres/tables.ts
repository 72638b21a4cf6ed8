/**
 * The tables in Postgres, as migrations. A migration that has shipped is never changed; a new one is added after it,
 * and only adds, so that processes of the previous version can run alongside. What is filtered or joined on is a
 * separate column, filled by the writer. JSON is text: the JSON types refuse NUL. Texts are compared by their bytes, as
 * SQLite does.
 */

import { FLEET_TABLES } from './fleet-tables.ts'

/** Processes of different major versions do not share a database. It is the first number of the package's version. */
export const MAJOR = 0

const LOOP = 'TEXT COLLATE "C" NOT NULL REFERENCES loop (id) ON DELETE CASCADE'

export const MIGRATIONS: readonly string[] = [
  `-- What readers resume from: a number is given last, and the next one only once it is committed.
   CREATE TABLE counter (name TEXT PRIMARY KEY, n BIGINT NOT NULL DEFAULT 0);
   INSERT INTO counter (name) VALUES ('loop'), ('event'), ('board'), ('pane');

   CREATE TABLE loop (
     seq BIGINT NOT NULL UNIQUE, id TEXT COLLATE "C" PRIMARY KEY,
     dir TEXT COLLATE "C" NOT NULL, agent TEXT COLLATE "C" NOT NULL, prompt TEXT COLLATE "C" NOT NULL,
     owner TEXT COLLATE "C" NOT NULL, spec TEXT NOT NULL, tally TEXT NOT NULL, next TEXT NOT NULL,
     status TEXT COLLATE "C" NOT NULL, reason TEXT, proof TEXT,
     iteration INTEGER NOT NULL, iteration_limit BIGINT NOT NULL, false_claims INTEGER NOT NULL,
     tokens BIGINT NOT NULL, cost_usd DOUBLE PRECISION NOT NULL,
     epoch INTEGER NOT NULL DEFAULT 0, holder TEXT NOT NULL DEFAULT '', holder_born TEXT, alive_until TIMESTAMPTZ,
     events INTEGER NOT NULL DEFAULT 0, started_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
     type TEXT COLLATE "C", size TEXT, bent INTEGER, findings INTEGER NOT NULL, finding_kinds TEXT[] NOT NULL,
     parent TEXT COLLATE "C", owner_task TEXT COLLATE "C", owner_name TEXT COLLATE "C", owner_path TEXT COLLATE "C",
     owner_id TEXT COLLATE "C", place TEXT COLLATE "C", stages INTEGER NOT NULL, held TEXT, crashes INTEGER NOT NULL,
     turn_iteration INTEGER, turn_attempt INTEGER
   ) WITH (fillfactor = 80); -- room for renewed leases, which change no index
   CREATE INDEX loop_by_time ON loop (started_at, seq);
   CREATE INDEX loop_by_status ON loop (status, started_at);
   CREATE INDEX loop_by_owner ON loop (owner, started_at);
   CREATE INDEX loop_by_dir ON loop (dir, started_at);
   CREATE INDEX loop_halted ON loop (updated_at) WHERE status = 'halted';
   CREATE INDEX loop_by_parent ON loop (parent) WHERE parent IS NOT NULL;
   CREATE INDEX loop_of_project ON loop (dir, owner_task, owner_name, started_at) WHERE owner = 'project';

   CREATE TABLE iteration (
     loop ${LOOP}, n INTEGER NOT NULL, attempts INTEGER NOT NULL, started_at BIGINT NOT NULL, ended_at BIGINT NOT NULL,
     agent TEXT NOT NULL, "end" TEXT NOT NULL, claim TEXT NOT NULL, changed INTEGER, tokens BIGINT NOT NULL,
     tokens_in BIGINT, tokens_cached BIGINT, tokens_out BIGINT, cost_usd DOUBLE PRECISION, words TEXT NOT NULL,
     files INTEGER, added INTEGER, removed INTEGER, weakened INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (loop, n)
   );
   CREATE INDEX iteration_by_end ON iteration (ended_at);
   CREATE TABLE check_result (
     loop ${LOOP}, iteration INTEGER NOT NULL, position INTEGER NOT NULL, "check" TEXT COLLATE "C" NOT NULL,
     result TEXT NOT NULL, failures INTEGER, tail TEXT NOT NULL, PRIMARY KEY (loop, iteration, position)
   );
   CREATE TABLE event (
     seq BIGINT PRIMARY KEY, loop ${LOOP}, n INTEGER NOT NULL, at BIGINT NOT NULL, fact TEXT NOT NULL, next TEXT NOT NULL,
     brief TEXT NOT NULL, comments BIGINT[] NOT NULL, UNIQUE (loop, n)
   );
   CREATE TABLE told (
     id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, loop ${LOOP}, at BIGINT NOT NULL, by TEXT NOT NULL,
     kind TEXT NOT NULL, "order" TEXT NOT NULL, comments BIGINT[] NOT NULL
   );
   CREATE INDEX told_by_loop ON told (loop, id);
   CREATE TABLE seen (loop ${LOOP} PRIMARY KEY, n INTEGER NOT NULL);

   CREATE TABLE project (folder TEXT COLLATE "C" PRIMARY KEY, record TEXT NOT NULL, updated_at BIGINT NOT NULL);
   CREATE TABLE task (
     vault TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, loop ${LOOP}, record TEXT NOT NULL,
     seen_to BOOLEAN NOT NULL, PRIMARY KEY (vault, id)
   );
   CREATE TABLE pane (
     crew TEXT COLLATE "C" NOT NULL, name TEXT COLLATE "C" NOT NULL, record TEXT NOT NULL, PRIMARY KEY (crew, name)
   );
   CREATE TABLE pane_mail (
     id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, crew TEXT COLLATE "C" NOT NULL, name TEXT COLLATE "C" NOT NULL,
     at BIGINT NOT NULL, mail TEXT NOT NULL
   );
   CREATE INDEX pane_mail_by_crew ON pane_mail (crew, id);
   CREATE TABLE pane_change (
     seq BIGINT PRIMARY KEY, crew TEXT COLLATE "C" NOT NULL, name TEXT COLLATE "C" NOT NULL, at BIGINT NOT NULL,
     change TEXT NOT NULL
   );

   CREATE TABLE board_task (
     seq BIGINT GENERATED ALWAYS AS IDENTITY, id TEXT COLLATE "C" PRIMARY KEY, project_id TEXT COLLATE "C",
     title TEXT COLLATE "C" NOT NULL, description TEXT COLLATE "C" NOT NULL, status TEXT COLLATE "C" NOT NULL,
     priority INTEGER NOT NULL, archived INTEGER NOT NULL, loop TEXT COLLATE "C", depends_on TEXT[] NOT NULL,
     version INTEGER NOT NULL, created_at BIGINT NOT NULL, record TEXT NOT NULL
   );
   CREATE INDEX board_task_by_time ON board_task (created_at, seq);
   CREATE INDEX board_task_by_shelf ON board_task (archived, status);
   CREATE INDEX board_task_by_loop ON board_task (loop);
   CREATE TABLE board_group (id TEXT COLLATE "C" PRIMARY KEY, record TEXT NOT NULL);
   CREATE TABLE board_change (seq BIGINT PRIMARY KEY, at BIGINT NOT NULL, change TEXT NOT NULL);
   CREATE TABLE comment (
     id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, loop ${LOOP}, at BIGINT NOT NULL, comment TEXT NOT NULL,
     hearer TEXT COLLATE "C" NOT NULL, delivered INTEGER
   );
   CREATE INDEX comment_by_loop ON comment (loop, id);
   CREATE INDEX comment_by_hearer ON comment (hearer, id);

   CREATE TABLE pass (hash TEXT PRIMARY KEY, loop ${LOOP}, iteration INTEGER NOT NULL, attempt INTEGER NOT NULL);
   CREATE TABLE report (
     id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, loop ${LOOP}, iteration INTEGER NOT NULL,
     attempt INTEGER NOT NULL, at BIGINT NOT NULL, report TEXT NOT NULL
   );
   CREATE INDEX report_by_turn ON report (loop, iteration, attempt);
   CREATE TABLE answer (key TEXT PRIMARY KEY, input TEXT NOT NULL, answer TEXT, at BIGINT NOT NULL);

   CREATE TABLE transcript (
     loop TEXT COLLATE "C" NOT NULL, iteration INTEGER NOT NULL, at_byte BIGINT NOT NULL, bytes_len INTEGER NOT NULL, data BYTEA NOT NULL,
     PRIMARY KEY (loop, iteration, at_byte)
   );
   ALTER TABLE transcript ALTER COLUMN data SET STORAGE EXTERNAL; -- it is compressed already`,
  FLEET_TABLES,
  `CREATE TABLE kept_diff (
     loop ${LOOP}, iteration INTEGER NOT NULL, "commit" TEXT NOT NULL, tree TEXT NOT NULL, head TEXT,
     previous_from TEXT, previous_left INTEGER, previous BYTEA, start_from TEXT, start_left INTEGER, start BYTEA,
     PRIMARY KEY (loop, iteration)
   );
   ALTER TABLE kept_diff ALTER COLUMN previous SET STORAGE EXTERNAL, ALTER COLUMN start SET STORAGE EXTERNAL`,
]
