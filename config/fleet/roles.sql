-- Roles for the database of a fleet, each with as few privileges as it needs: ralph_worker, ralph_submitter, ralph_reader.
--
-- First let the owner create the tables:  ralph doctor --database postgres://ralph_owner@HOST/ralph
-- Then run this in that database as an administrator, and again after every upgrade:  psql -d ralph -f roles.sql
-- Give each person and each machine its own user:
--   CREATE ROLE build7 LOGIN PASSWORD '…' IN ROLE ralph_worker;
-- If you use another schema (?schema=NAME), replace ralph. and ralph_queue below.

DO $$
DECLARE
  name text;
  owner regrole := (SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'ralph');
BEGIN
  IF owner IS NULL OR to_regclass('ralph_queue.job') IS NULL THEN
    RAISE EXCEPTION 'The tables do not exist yet. Let the owner create them first: ralph doctor --database URL';
  END IF;
  EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO %s', current_database(), owner);
  FOREACH name IN ARRAY ARRAY['ralph_worker', 'ralph_submitter', 'ralph_reader'] LOOP
    BEGIN
      EXECUTE format('CREATE ROLE %I NOLOGIN', name);
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
      NULL; -- it already exists
    END;
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), name);
    -- Revoke whatever an earlier version of this file granted.
    EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA ralph, ralph_queue FROM %I', name);
  END LOOP;
  -- Tables that later versions add can be read, and workers can use them, until this file is run again.
  EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE %s IN SCHEMA ralph GRANT SELECT ON TABLES TO ralph_submitter, ralph_reader', owner);
  EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE %s IN SCHEMA ralph, ralph_queue GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ralph_worker', owner);
  EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE %s IN SCHEMA ralph_queue GRANT USAGE ON SEQUENCES TO ralph_worker', owner);
END $$;

REVOKE CREATE ON SCHEMA public FROM PUBLIC; -- before Postgres 15, everybody had it

-- Reader: sees tasks, loops, events and transcripts, but no secrets, no agents' passes, and no stored responses of the server.
GRANT USAGE ON SCHEMA ralph TO ralph_reader, ralph_submitter, ralph_worker;
GRANT SELECT ON ALL TABLES IN SCHEMA ralph TO ralph_reader;
REVOKE ALL ON ralph.fleet_secret, ralph.pass, ralph.answer FROM ralph_reader;

-- Submitter: also submits, cancels, pauses, steers, retries, and runs a server. It writes secrets, but cannot read them.
GRANT SELECT ON ALL TABLES IN SCHEMA ralph TO ralph_submitter;
REVOKE ALL ON ralph.fleet_secret FROM ralph_submitter;
GRANT SELECT (id, at), INSERT, UPDATE (at) ON ralph.fleet_secret TO ralph_submitter;
GRANT UPDATE ON ralph.counter TO ralph_submitter;
GRANT INSERT ON ralph.event, ralph.transcript, ralph.fleet_dependency TO ralph_submitter;
GRANT INSERT, UPDATE ON ralph.loop, ralph.iteration, ralph.report, ralph.seen, ralph.fleet_task, ralph.fleet_spend
  TO ralph_submitter;
GRANT INSERT, UPDATE, DELETE ON ralph.check_result, ralph.told, ralph.comment, ralph.pass, ralph.answer, ralph.project,
  ralph.task, ralph.pane, ralph.pane_mail, ralph.pane_change, ralph.board_task, ralph.board_group, ralph.board_change
  TO ralph_submitter;

-- Worker: does all the work, but cannot create or drop tables, or set budgets or settings.
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ralph TO ralph_worker;
REVOKE INSERT, UPDATE, DELETE ON ralph.version, ralph.fleet_budget, ralph.fleet_setting FROM ralph_worker;
GRANT USAGE ON SCHEMA ralph_queue TO ralph_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ralph_queue TO ralph_worker;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA ralph_queue TO ralph_worker;
