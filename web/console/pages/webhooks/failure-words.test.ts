import { expect, test } from 'vitest';
import { failureWords } from './failure-words.ts';

const wordsOf = (response_status: number | null, error: string | null) => {
  const { what, advice } = failureWords({ response_status, error });
  return `${what} ${advice}`;
};

test.each([
  [400, 'check it against the bytes as they came'],
  [401, 'asks for a sign-in'],
  [308, 'Redirects are not followed'],
  [404, 'Correct the address of the webhook'],
  [410, 'switch it on again'],
  [418, 'refused the message'],
  [429, 'Respond with 2xx at once'],
  [503, 'Look into its log'],
])('the response %i is said in words', (status, words) => {
  expect(wordsOf(status, `responded with ${status}`)).toContain(words);
  expect(wordsOf(status, null)).toContain(`Your server responded with ${status}: it `);
});

// Texts of Node, OpenSSL and the deliverer.
test.each([
  ['connect ECONNREFUSED 203.0.113.7:443', 'Nothing listens'],
  ['getaddrinfo ENOTFOUND you.example', 'name is not known'],
  ['you.example has no address', 'name is not known'],
  ['unable to verify the first certificate', 'certificate is not valid'],
  ['self-signed certificate in certificate chain', 'certificate is not valid'],
  ["Hostname/IP does not match certificate's altnames: Host: you.example.", 'certificate is not valid'],
  [
    'write EPROTO 40E7:error:0A00010B:SSL routines:ssl3_get_record:wrong version number',
    'does not speak TLS',
  ],
  ['no response within 20 s', 'did not respond in time'],
  ['connect ETIMEDOUT 203.0.113.7:443', 'did not respond in time'],
  ['socket hang up', 'closed the connection'],
  ['read ECONNRESET', 'closed the connection'],
  ['Parse Error: Expected HTTP/, RTSP/ or ICE/', 'does not speak HTTP'],
  ['the webhook is not active', 'was off'],
  ['something else', 'did not reach your server: something else.'],
])('the error "%s" is said in words', (error, words) => {
  expect(wordsOf(null, error)).toContain(words);
});
