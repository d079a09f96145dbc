/**
 * `now()` and `clock_timestamp()` of the simulated world, which a session is told with each statement. The second one
 * runs ahead by a microsecond with each call, since the real one never returns a time twice.
 */
export const SIMULATED_TIME = `
CREATE SEQUENCE public.simulated_ticks;
CREATE FUNCTION public.now() RETURNS timestamptz STABLE LANGUAGE sql AS $$
  SELECT CASE WHEN coalesce(current_setting('sim.now', true), '') = '' THEN pg_catalog.now()
    ELSE pg_catalog.to_timestamp(current_setting('sim.now')::float8 / 1000) END
$$;
CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql AS $$
  SELECT public.now() + nextval('public.simulated_ticks') * interval '1 microsecond'
$$;`;

/** Keeps the rows of a new deployment, and creates the function that makes the database new again. */
export const SNAPSHOT_OF_EMPTY = `
CREATE SCHEMA emptied;
DO $do$
DECLARE found record;
BEGIN
  FOR found IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
    AND pg_relation_size(oid) > 0 AND relname <> 'migrations'
  LOOP
    EXECUTE format('CREATE TABLE emptied.%I AS TABLE public.%I', found.relname, found.relname);
  END LOOP;
END $do$;
CREATE FUNCTION emptied.empty_all() RETURNS void LANGUAGE plpgsql SET session_replication_role = replica AS $$
DECLARE
  written text;
  kept record;
BEGIN
  SELECT string_agg(oid::regclass::text, ', ') INTO written FROM pg_class
  WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND pg_relation_size(oid) > 0 AND relname <> 'migrations';
  IF written IS NOT NULL THEN EXECUTE 'TRUNCATE ' || written || ' RESTART IDENTITY CASCADE'; END IF;
  FOR kept IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'emptied'::regnamespace
  LOOP
    EXECUTE format('INSERT INTO public.%I SELECT * FROM emptied.%I', kept.relname, kept.relname);
  END LOOP;
  PERFORM setval('public.simulated_ticks', 1);
END $$;`;

/**
 * Creates the functions of a standby: one lets it fall behind, and one makes the database as it was then, as after a
 * failover to it. The first one is called while no statement runs, so all that it reads is of one moment.
 */
export const STANDBY = `
CREATE FUNCTION emptied.keep() RETURNS void LANGUAGE plpgsql SET client_min_messages = warning AS $$
DECLARE written record;
BEGIN
  DROP SCHEMA IF EXISTS standby CASCADE;
  CREATE SCHEMA standby;
  CREATE TABLE standby.of_sequences AS
    SELECT sequencename AS name, coalesce(last_value, start_value) AS number, last_value IS NOT NULL AS is_called
    FROM pg_sequences WHERE schemaname = 'public' AND sequencename <> 'simulated_ticks';
  FOR written IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
    AND pg_relation_size(oid) > 0 AND relname <> 'migrations'
  LOOP
    EXECUTE format('CREATE TABLE standby.%I AS TABLE public.%I', written.relname, written.relname);
  END LOOP;
END $$;
CREATE FUNCTION emptied.go_back() RETURNS void LANGUAGE plpgsql SET session_replication_role = replica AS $$
DECLARE
  written text;
  kept record;
BEGIN
  SELECT string_agg(oid::regclass::text, ', ') INTO written FROM pg_class
  WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND pg_relation_size(oid) > 0 AND relname <> 'migrations';
  IF written IS NOT NULL THEN EXECUTE 'TRUNCATE ' || written || ' CASCADE'; END IF;
  FOR kept IN SELECT relname, string_agg(format('%I', attname), ', ' ORDER BY attnum) AS columns
    FROM pg_class JOIN pg_attribute ON attrelid = to_regclass(format('public.%I', relname)) AND attnum > 0
      AND NOT attisdropped AND attgenerated = ''
    WHERE relkind = 'r' AND relnamespace = 'standby'::regnamespace AND relname <> 'of_sequences'
    GROUP BY relname
  LOOP
    EXECUTE format('INSERT INTO public.%1$I (%2$s) OVERRIDING SYSTEM VALUE SELECT %2$s FROM standby.%1$I',
      kept.relname, kept.columns);
  END LOOP;
  PERFORM setval(format('public.%I', name)::regclass, number, is_called) FROM standby.of_sequences;
END $$;`;
