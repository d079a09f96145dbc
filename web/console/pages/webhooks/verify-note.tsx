import { Anchor, Text } from '@mantine/core';

/** Says what a new signing secret is for. @param what it signs, such as `a message` */
export const VerifyNote = ({ what }: { what: string }) => (
  <Text size="sm">
    Your server uses it to verify that {what} comes from Hoplog.{' '}
    {/* In a new tab: this page can't show the secret again. */}
    <Anchor
      href="/console/settings/developers?snippet=verify"
      target="_blank"
      rel="noopener"
      underline="always"
    >
      How to verify a message
    </Anchor>
  </Text>
);
