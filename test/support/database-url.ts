/** Roles of the tests' databases: neither is a superuser. */
export const TEST_OWNER = 'hoplog_test_owner';
export const TEST_SERVICE = 'hoplog_test_service';
/** Their password: runs may share a server. */
export const TEST_PASSWORD = 'hoplog-test';

/** Returns the address of another database on the same PostgreSQL server. @param role default: the superuser */
export function databaseUrlOf(serverUrl: string, database: string, role?: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  if (role !== undefined) {
    url.username = role;
    url.password = TEST_PASSWORD;
  }
  return url.href;
}

/** Returns the addresses of a database of a test: of the service's role, and of the owner. */
export function databaseUrlsOf(
  serverUrl: string,
  database: string,
): { databaseUrl: string; databaseOwnerUrl: string } {
  return {
    databaseUrl: databaseUrlOf(serverUrl, database, TEST_SERVICE),
    databaseOwnerUrl: databaseUrlOf(serverUrl, database, TEST_OWNER),
  };
}
