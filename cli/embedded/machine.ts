/**
 * The properties that decide which native programs run: `process.platform`, `process.arch`, and the C library of Linux.
 */
export type Machine = { platform: string; arch: string; isMusl: boolean };

/** Returns this machine's. */
export function thisMachine(): Machine {
  const { platform, arch } = process;
  return { platform, arch, isMusl: platform === 'linux' && !hasGlibc() };
}

let glibc: boolean | undefined;

function hasGlibc(): boolean {
  glibc ??= reportsGlibc();
  return glibc;
}

/** Returns whether the C library is glibc. Takes some milliseconds. */
function reportsGlibc(): boolean {
  // Excludes network information, for which the report would query name servers. Its type lacks the property.
  const report = Object.assign(process.report, { excludeNetwork: true });
  const { header } = report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime !== undefined;
}

/** An embedded database: its name, the setting for a server instead, and its packages by machine. */
export type Embedded = {
  name: 'ClickHouse' | 'PostgreSQL';
  setting: 'CLICKHOUSE_URL' | 'DATABASE_URL';
  /** Package for each `<platform>-<arch>` that has one. */
  packages: Readonly<Record<string, string>>;
  /** Version of the packages. */
  version: string;
};

/** Returns why an embedded database is missing, with advice, in one sentence. */
export function missingDatabase({ name, setting, packages, version }: Embedded, machine: Machine): string {
  const { platform, arch, isMusl } = machine;
  const instead = `set ${setting} to a ${name} server`;
  if (isMusl) {
    return `no embedded ${name} for Linux with musl, as Alpine Linux: ${instead}, or use a Linux with glibc 2.28 or newer`;
  }
  const wanted = packages[`${platform}-${arch}`];
  if (wanted === undefined) return `no embedded ${name} for ${platform}-${arch}: ${instead}`;
  return `the embedded ${name} of this machine is not installed: run "npm install --no-save ${wanted}@${version}", or ${instead}`;
}
