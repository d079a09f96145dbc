/** A delivery whose last attempt failed. */
export type FailedDelivery = { response_status: number | null; error: string | null };

/** What happened, and what to do. Both are whole sentences. */
export type FailureWords = { what: string; advice: string };

const OF_STATUS: Record<number, [what: string, advice: string]> = {
  400: [
    'found the message wrong',
    'Most often the signature was checked against a parsed body: check it against the bytes as they came.',
  ],
  401: ['asks for a sign-in', 'Let this address in without one, and check the signature instead.'],
  403: [
    'forbids the message',
    'A firewall or a bot filter may stand before it: let this address through, and check the signature instead.',
  ],
  404: ['has nothing at this address', 'Correct the address of the webhook, or deploy what serves it.'],
  405: [
    'takes no such request at this address',
    'Correct the address of the webhook, or take POST there. Calls of the address are a GET.',
  ],
  410: [
    'asked for no more messages',
    'This turns the webhook off. If it was a mistake, respond with 2xx and switch it on again.',
  ],
  413: ['found the message too large', 'Raise its limit for bodies to 1 MB.'],
  429: ['has too many messages at once', 'Respond with 2xx at once, and work on a message afterwards.'],
};

/** Says in words why the last attempt of a delivery failed. */
export function failureWords({ response_status: status, error }: FailedDelivery): FailureWords {
  if (status === null) return ofNetwork(error ?? '');
  const known = OF_STATUS[status] ?? ofStatusClass(status);
  return { what: `Your server responded with ${status}: it ${known[0]}.`, advice: known[1] };
}

function ofStatusClass(status: number): [string, string] {
  if (status < 400)
    return [
      'sent the message on to another address',
      'Redirects are not followed: enter the address that it leads to.',
    ];
  if (status < 500)
    return ['refused the message', 'Respond with 2xx to every message that you have received.'];
  return ['failed', 'Look into its log at this time.'];
}

/** Network errors are texts of the system, of OpenSSL and of Node. */
const OF_NETWORK: [pattern: RegExp, what: string, advice: string][] = [
  [/ECONNREFUSED/, 'Nothing listens at this address.', 'Start your server, or correct the port.'],
  [
    /ENOTFOUND|EAI_|has no address/,
    'The host’s name is not known.',
    'Correct the address of the webhook, or wait until its DNS entry is there.',
  ],
  [
    /certificate|CERT_|self.signed|altnames/i,
    'The host’s certificate is not valid.',
    'Renew it, and serve it with its whole chain.',
  ],
  [
    /EPROTO|SSL|TLS/,
    'The host does not speak TLS at this port.',
    'Correct the port, or use http:// if that is meant.',
  ],
  [
    /no response within|timed? ?out|ETIMEDOUT/i,
    'Your server did not respond in time.',
    'Respond with 2xx at once, and work on a message afterwards.',
  ],
  [
    /ECONNRESET|EPIPE|socket hang up|connection was closed/,
    'Your server closed the connection without a response.',
    'Look into its log at this time, and into that of the proxy before it.',
  ],
  [
    /EHOSTUNREACH|ENETUNREACH/,
    'The host can’t be reached.',
    'Check that it is up and that its firewall lets requests in.',
  ],
  [
    /globally reachable|not allowed/,
    'The host’s address is not a public one.',
    'Use a public address, or ask the operator of Hoplog to allow private ones.',
  ],
  [
    /Parse Error|HPE_/,
    'What responds does not speak HTTP.',
    'Correct the address of the webhook: another program listens there.',
  ],
  [
    /not active/,
    'The webhook was off when the message was due.',
    'Switch it on, and deliver the message again.',
  ],
];

function ofNetwork(error: string): FailureWords {
  const found = OF_NETWORK.find(([pattern]) => pattern.test(error));
  if (found) return { what: found[1], advice: found[2] };
  return {
    what: `The message did not reach your server: ${error || 'no reason is known'}.`,
    advice: 'Check that the address of the webhook responds from outside your network.',
  };
}
