import { Button, Group, PasswordInput, Text } from '@mantine/core';
import { useState } from 'react';
import { fieldError } from '../../api/failures.ts';
import { useSend } from '../../api/queries.ts';
import { sentence, sentenceOf } from '../../api/sentence.ts';
import { useSession } from '../../api/session.ts';
import type { Connection } from './responses.ts';

type Props = {
  connection: Connection;
  field: 'signing_secret' | 'restricted_key';
  label: string;
  about: string;
  isSet: boolean;
};

/** Enters or replaces a secret of a connection. It is never shown again. */
export function SecretField({ connection, field, label, about, isSet }: Props) {
  const { can } = useSession();
  const [value, setValue] = useState('');
  const save = useSend<string, Connection>(
    (secret) => ({ path: `/connections/${connection.id}`, method: 'PATCH', body: { [field]: secret } }),
    { refresh: ['/connections'], done: `${label} saved`, tellFailure: false },
  );
  if (!can('operator')) {
    return (
      <Text size="sm">
        {label}: {isSet ? 'set' : 'not set'}
      </Text>
    );
  }
  const wrong = fieldError(save.error, field);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate(value.trim(), { onSuccess: () => setValue('') });
      }}
    >
      <Group align="flex-end" gap="xs">
        <PasswordInput
          w={{ base: '100%', xs: 420 }}
          label={label}
          description={isSet ? `${about} One is set; a new one replaces it.` : about}
          autoComplete="off"
          maxLength={500}
          value={value}
          error={save.isError && (wrong === null ? sentenceOf(save.error) : sentence(wrong))}
          onChange={(event) => setValue(event.currentTarget.value)}
        />
        <Button
          type="submit"
          variant="default"
          loading={save.isPending}
          disabled={value.trim() === ''}
          aria-label={`${isSet ? 'Replace' : 'Save'} the ${label.toLowerCase()}`}
        >
          {isSet ? 'Replace' : 'Save'}
        </Button>
      </Group>
    </form>
  );
}
