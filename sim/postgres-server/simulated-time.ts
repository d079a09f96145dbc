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
