// Browsers run this file too.
const LOOPBACK = /^(?:localhost|.+\.localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** Returns whether a host name (brackets around IPv6) always means this machine. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}
