/** The tables of the fleet, as a migration like any other. */

export const FLEET_TABLES: string = `
  CREATE TABLE fleet_task (
    id text PRIMARY KEY, seq bigint GENERATED ALWAYS AS IDENTITY, title text NOT NULL, submitter text COLLATE "C" NOT NULL,
    repo text, base text, branch text NOT NULL, project text, priority integer NOT NULL,
    agents text[] NOT NULL, labels text[] NOT NULL, needs text COLLATE "C" NOT NULL, touches text[] NOT NULL, depends_on text[] NOT NULL,
    state text NOT NULL, sentence text, loop_id text NOT NULL, worker text, attempts integer NOT NULL, merge_job boolean NOT NULL, sent_back integer NOT NULL,
    pushed text, limit_usd double precision, reserved_usd double precision NOT NULL, spent_usd double precision NOT NULL, due_at bigint,
    created_at bigint NOT NULL, updated_at bigint NOT NULL, asked text NOT NULL
  );
  CREATE UNIQUE INDEX fleet_task_by_time ON fleet_task (seq);
  CREATE INDEX fleet_task_by_state ON fleet_task (state, seq);
  CREATE INDEX fleet_task_ready ON fleet_task (submitter, needs, priority DESC, created_at, seq) WHERE state = 'ready';
  CREATE INDEX fleet_task_resting ON fleet_task (due_at) WHERE state = 'resting';
  CREATE INDEX fleet_task_by_project ON fleet_task (project, state) WHERE project IS NOT NULL;
  CREATE INDEX loop_of_fleet ON loop (owner_task) WHERE owner = 'fleet';
  CREATE TABLE fleet_dependency (
    task text NOT NULL REFERENCES fleet_task (id) ON DELETE CASCADE, needs text NOT NULL, PRIMARY KEY (task, needs)
  );
  CREATE INDEX fleet_dependency_by_needs ON fleet_dependency (needs);
  CREATE TABLE fleet_worker (
    id text PRIMARY KEY, host text NOT NULL, pid integer NOT NULL, version text NOT NULL, agents text NOT NULL, labels text[] NOT NULL,
    concurrency integer NOT NULL, running integer NOT NULL, draining boolean NOT NULL, drain boolean NOT NULL DEFAULT false,
    started_at bigint NOT NULL, beat_at bigint NOT NULL, progress_at bigint NOT NULL
  );
  CREATE TABLE fleet_account (name text PRIMARY KEY, paused_until bigint NOT NULL, why text NOT NULL);
  CREATE TABLE fleet_budget (submitter text PRIMARY KEY, usd_per_day double precision NOT NULL);
  CREATE TABLE fleet_spend (
    submitter text NOT NULL, day date NOT NULL, spent_usd double precision NOT NULL, PRIMARY KEY (submitter, day)
  );
  CREATE TABLE fleet_queue (name text PRIMARY KEY, agents text[] NOT NULL, labels text[] NOT NULL);
  CREATE TABLE fleet_share (submitter text PRIMARY KEY, released_at bigint NOT NULL);
  CREATE TABLE fleet_setting (name text PRIMARY KEY, value double precision NOT NULL);
  CREATE TABLE fleet_role (name text PRIMARY KEY, holder text NOT NULL, until bigint NOT NULL);
  CREATE TABLE fleet_secret (id text PRIMARY KEY, value text NOT NULL, at bigint NOT NULL);`

/** The clock of the database, in milliseconds: the only clock that counts. */
export const NOW = `(extract(epoch FROM clock_timestamp()) * 1000)::bigint`
