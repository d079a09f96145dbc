import { Anchor, Button, Group, Paper, Progress, Skeleton, Text } from '@mantine/core';
import { IconChevronRight, IconCircle, IconCircleCheckFilled } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { useApi, useSend } from '../../api/queries.ts';
import type { ResponseOf } from '../../api/responses.ts';
import { type Role, useSession } from '../../api/session.ts';
import { Note } from '../../parts/note.tsx';
import { useSampleShop } from '../../shell/sample-shop.ts';

type Steps = ResponseOf<'/first-steps'>['steps'];
type Step = Steps[number]['step'];

/** Steps are done in other windows and by visitors. Milliseconds. */
const REFRESH = 10_000;

/** Each step in words, the page where it is done, and the least role that can do it. */
const STEPS: Record<Step, { title: string; about: string; path: string; role: Role }> = {
  link: {
    title: 'Create a link',
    about: 'A short address that counts its clicks.',
    path: '/links/new',
    role: 'operator',
  },
  click: {
    title: 'See a click',
    about: 'Open your link; the click appears within a second.',
    path: '/live',
    role: 'analyst',
  },
  pixel: {
    title: 'Put the pixel on your site',
    about: 'It is detected with its first report.',
    path: '/settings/developers',
    role: 'operator',
  },
  conversion: {
    title: 'Record a conversion',
    about: 'A lead or an order, by the pixel, the API, or a connection.',
    path: '/connections',
    role: 'operator',
  },
  domain: {
    title: 'Connect your domain',
    about: 'Links begin with your own name.',
    path: '/domains',
    role: 'operator',
  },
  colleague: {
    title: 'Invite a colleague',
    about: 'Each has a role of their own.',
    path: '/settings?tab=members',
    role: 'owner',
  },
  api_key: {
    title: 'Use the API',
    about: 'Create a key, and make a first call with it.',
    path: '/settings/developers',
    role: 'owner',
  },
};

/** The first steps of a workspace, until they are done or hidden. */
export function FirstSteps() {
  const { first_steps: isShown } = useSession();
  return isShown ? <List /> : null;
}

/** Hides the list from the member, or by an owner from everyone. */
function Hide() {
  const { can } = useSession();
  const hide = useSend<'member' | 'workspace'>(
    (hidden_for) => ({ path: '/first-steps', method: 'PATCH', body: { hidden_for } }),
    {
      refresh: ['/session'],
      done: (_, whom) => (whom === 'member' ? 'First steps hidden' : 'First steps hidden for everyone'),
      undo: () => ({ path: '/first-steps', method: 'PATCH', body: { hidden_for: 'none' } }),
    },
  );
  return (
    <Group gap={4} ml="auto">
      {can('owner') && (
        <Button size="compact-sm" variant="subtle" onClick={() => hide.mutate('workspace')}>
          Hide for everyone
        </Button>
      )}
      <Button size="compact-sm" variant="subtle" onClick={() => hide.mutate('member')}>
        Hide for me
      </Button>
    </Group>
  );
}

/** Shows a shop with 60 days of data: it takes seconds to make. */
export function LookAtSample({ size }: { size: 'sm' | 'compact-sm' }) {
  const { can } = useSession();
  const { look, isLooking } = useSampleShop();
  if (!can('operator')) return null;
  return (
    <Button size={size} variant="default" loading={isLooking} onClick={look}>
      Look at sample data
    </Button>
  );
}

const ALL = Object.keys(STEPS) as Step[];

/** One line with the progress and the next step. A press shows all of them. */
function List() {
  const { can } = useSession();
  const [isOpen, setOpen] = useState(false);
  const query = useApi<ResponseOf<'/first-steps'>>('/first-steps', {}, { every: REFRESH });
  const steps = query.data?.steps;
  // Without data, a completed step would look open.
  if (query.isError && steps === undefined) return null;
  const done = steps?.filter((one) => one.done).length ?? 0;
  const isOver = steps !== undefined && done === steps.length;
  const next = steps?.find((one) => !one.done && can(STEPS[one.step].role))?.step;
  return (
    <Paper
      component="section"
      withBorder
      px="md"
      py={6}
      mb="md"
      aria-labelledby="first-steps"
      aria-busy={steps === undefined}
    >
      <Group gap="sm" wrap="nowrap" mih={28}>
        <h2 className="first-steps-title" id="first-steps">
          <button
            type="button"
            className="first-steps-press"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            <IconChevronRight size={16} stroke={1.8} className="first-steps-sign" aria-hidden />
            {isOver ? 'You are set up' : 'First steps'}
          </button>
        </h2>
        <Progress
          flex={1}
          maw={220}
          value={(done / ALL.length) * 100}
          aria-label={`${done} of ${ALL.length} steps are done`}
        />
        <Text size="sm" c="dimmed" role="status" style={{ whiteSpace: 'nowrap' }}>
          {steps === undefined ? '…' : `${done} of ${steps.length}`}
        </Text>
        {next && !isOpen && (
          <Text size="sm" visibleFrom="md" ml="auto" truncate>
            Next:{' '}
            <Anchor component={Link} href={STEPS[next].path} inherit>
              {STEPS[next].title}
            </Anchor>
          </Text>
        )}
      </Group>
      {isOpen && (
        <>
          <ol className="first-steps">
            {ALL.map((step) => (
              <Row key={step} step={step} done={steps?.find((one) => one.step === step)?.done} />
            ))}
          </ol>
          <Group justify="space-between" gap="xs" my="sm">
            <LookAtSample size="compact-sm" />
            <Hide />
          </Group>
        </>
      )}
    </Paper>
  );
}

/** @param done undefined: not known yet */
function Row({ step, done }: { step: Step; done: boolean | undefined }) {
  const { can } = useSession();
  const { title, about, path, role } = STEPS[step];
  const Icon = done ? IconCircleCheckFilled : IconCircle;
  return (
    <li>
      {done === undefined ? (
        <Skeleton circle height={20} className="first-step-sign" />
      ) : (
        <Icon
          size={20}
          aria-label={done ? 'Done' : 'Open'}
          className={done ? 'first-step-sign first-step-done' : 'first-step-sign'}
        />
      )}
      <div>
        {done === false && can(role) ? (
          <Anchor component={Link} href={path} size="sm" fw={500} display="block">
            {title}
          </Anchor>
        ) : (
          <Text size="sm" fw={500} c={done ? 'dimmed' : undefined}>
            {title}
          </Text>
        )}
        <Note>{done === false && !can(role) ? `${about} An ${role} does this.` : about}</Note>
      </div>
    </li>
  );
}
