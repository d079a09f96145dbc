import { describe, expect, test } from 'vitest';
import { firstHost, postgresHosts, withPostgresPassword } from './postgres-hosts.ts';

describe('hosts of a PostgreSQL URL', () => {
  test.each([
    ['postgres://u:p@a:1/d', ['postgres://u:p@a:1/d'], false],
    ['postgres://u:p@a:1/d?target_session_attrs=any', ['postgres://u:p@a:1/d'], false],
    [
      'postgres://u@a/d?target_session_attrs=primary&sslmode=require',
      ['postgres://u@a/d?sslmode=require'],
      true,
    ],
    ['postgres://u:p@a:1,b:2/d', ['postgres://u:p@a:1/d', 'postgres://u:p@b:2/d'], true],
    // A comma and an "@" in a password are part of it.
    ['postgres://u:p,q@x@a,[::1]:2/d', ['postgres://u:p,q@x@a/d', 'postgres://u:p,q@x@[::1]:2/d'], true],
    [
      'postgresql://u@a:1,b/d?sslmode=require&target_session_attrs=read-write&application_name=x',
      ['a:1', 'b'].map((host) => `postgresql://u@${host}/d?sslmode=require&application_name=x`),
      true,
    ],
  ])('%s', (url, urls, needsPrimary) => {
    expect(postgresHosts(url)).toEqual({ urls, needsPrimary });
  });

  test.each([
    ['postgres://u@a,,b/d', 'a host before and after each comma'],
    ['postgres://u@a,/d', 'a host before and after each comma'],
    ['postgres://u@a,b/d?target_session_attrs=any', 'target_session_attrs=read-write'],
    ['postgres://u@a/d?target_session_attrs=standby', 'target_session_attrs=read-write'],
  ])('%s is refused', (url, message) => {
    expect(() => postgresHosts(url)).toThrow(message);
  });

  test('a password of a setting of its own is that of each host', () => {
    const url = withPostgresPassword('postgres://u@a:1,b:2/d', 'p@s,s/w:d%');
    expect(postgresHosts(url).urls).toHaveLength(2);
    for (const one of postgresHosts(url).urls) {
      expect(decodeURIComponent(new URL(one).password)).toBe('p@s,s/w:d%');
    }
    expect(firstHost(url).username).toBe('u');
  });
});
