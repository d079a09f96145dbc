import { Button, Group, Paper, SimpleGrid, Stack, Stepper, Text, VisuallyHidden } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { fieldError } from '../../api/failures.ts';
import { isAlike } from '../../parts/changed-fields.ts';
import { Note } from '../../parts/note.tsx';
import type { Form } from '../../parts/use-draft.ts';
import type { Draft } from './program-draft.ts';
import { BasicFields, CommissionFields, CreditFields, PayoutFields } from './program-fields.tsx';
import { summaryOf } from './program-summary.ts';
import { TEMPLATES } from './program-templates.ts';
import { TrustFields } from './program-trust-fields.tsx';

type Fields = Form<Draft>;

const STEPS = ['Program', 'Rewards', 'Payouts', 'Protection'] as const;
const LAST_STEP = STEPS.length - 1;

/** Fields of each step by API name; `levels.0` and the like are with the rewards. */
const FIELDS: readonly (readonly string[])[] = [
  ['name', 'destination_url', 'code'],
  [
    'commission_rate',
    'commission_months',
    'hold_days',
    'credit_kind',
    'signup_credit.free',
    'signup_credit.paid',
    'purchase_credit',
    'referee_credit',
    ...Array.from({ length: 10 }, (_, index) => `levels.${index}`),
  ],
  ['currency', 'min_payout', 'payout_methods'],
  ['max_signups_per_day'],
];

/** Returns the first step with a field that the error names; null: none does. */
export function stepWithError(error: unknown): number | null {
  const step = FIELDS.findIndex((names) => names.some((name) => fieldError(error, name) !== null));
  return step < 0 ? null : step;
}

/** The form of a new program in four steps, with what it will pay in a sentence. */
export function ProgramSteps({ step, go, ...fields }: Fields & { step: number; go: (step: number) => void }) {
  const isPhone = useMediaQuery('(max-width: 48em)') === true;
  return (
    <Stack gap="md">
      <Stepper active={step} onStepClick={go} size="xs" iconSize={28} wrap={false}>
        {STEPS.map((name, index) => (
          <Stepper.Step
            key={name}
            label={isPhone && index !== step ? <VisuallyHidden>{name}</VisuallyHidden> : name}
            color={FIELDS[index]?.some((field) => fieldError(fields.error, field)) ? 'red' : undefined}
          />
        ))}
      </Stepper>
      {step === 0 && (
        <>
          <Templates {...fields} />
          <BasicFields {...fields} existing={false} />
        </>
      )}
      {step === 1 && (
        <>
          <CommissionFields {...fields} />
          <CreditFields {...fields} />
        </>
      )}
      {step === 2 && <PayoutFields {...fields} />}
      {step === 3 && <TrustFields {...fields} />}
      <Summary draft={fields.draft} />
    </Stack>
  );
}

function Templates({ draft, change }: Fields) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 3 }} role="group" aria-label="Terms to begin with">
      {TEMPLATES.map(({ name, description, part }) => {
        const isChosen = isAlike({ ...draft, ...part }, draft);
        return (
          <Button
            key={name}
            variant={isChosen ? 'light' : 'default'}
            aria-pressed={isChosen}
            h="auto"
            py="xs"
            justify="flex-start"
            styles={{ label: { whiteSpace: 'normal', textAlign: 'left' } }}
            onClick={() => change(part)}
          >
            <span>
              {name}
              <Text size="xs" c="dimmed" component="span" display="block" fw={400}>
                {description}
              </Text>
            </span>
          </Button>
        );
      })}
    </SimpleGrid>
  );
}

function Summary({ draft }: { draft: Draft }) {
  const summary = summaryOf(draft);
  return (
    <Paper withBorder p="sm" component="section" aria-label="Summary">
      <Text size="sm" fw={600}>
        {summary?.sentence ?? 'Complete the numbers to see what the program pays.'}
      </Text>
      {summary?.example && <Note>Example: {summary.example}</Note>}
    </Paper>
  );
}

/** Moves between the steps. */
export function StepButtons({ step, go }: { step: number; go: (step: number) => void }) {
  return (
    <Group gap="xs">
      {step > 0 && (
        <Button variant="default" onClick={() => go(step - 1)}>
          Back
        </Button>
      )}
      {step < LAST_STEP && (
        <Button variant="default" onClick={() => go(step + 1)}>
          Next: {STEPS[step + 1]}
        </Button>
      )}
    </Group>
  );
}
