import {
  ActionIcon,
  Button,
  Checkbox,
  Fieldset,
  Group,
  Input,
  MultiSelect,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { AddressField } from '../../parts/address-field.tsx';
import type { Draft } from './program-draft.ts';
import { wrongWith } from './program-problems.ts';
import { METHOD_CHOICES } from './words.ts';

type Props = { draft: Draft; error: unknown; change: (part: Partial<Draft>) => void };

const MOST_LEVELS = 10;

/** Name, destination URL and code. */
export function BasicFields({ draft, error, change, existing }: Props & { existing: boolean }) {
  return (
    <Stack gap="sm">
      <TextInput
        label="Name"
        required
        data-autofocus
        maxLength={100}
        value={draft.name}
        error={wrongWith(error, 'name')}
        onChange={(event) => change({ name: event.currentTarget.value })}
      />
      <AddressField
        label="Destination URL"
        description="The page where new users sign up"
        required
        value={draft.destination_url}
        error={wrongWith(error, 'destination_url')}
        onChange={(address) => change({ destination_url: address })}
      />
      <TextInput
        label="Link parameters"
        description="With the pixel, a page opened with one of them, such as ?ref=code, counts as a click of that referrer's link."
        value={draft.link_parameters}
        error={linkParametersError(error)}
        onChange={(event) => change({ link_parameters: event.currentTarget.value })}
      />
      <TextInput
        label="Code"
        description={`The end of the program's own link.${existing ? '' : ' Leave empty to generate one.'}`}
        required={existing}
        value={draft.code}
        error={wrongWith(error, 'code')}
        onChange={(event) => change({ code: event.currentTarget.value })}
      />
    </Stack>
  );
}

/** Commission. */
export function CommissionFields({ draft, error, change }: Props) {
  const isPercent = draft.commission_type === 'percent';
  const unit = isPercent ? '%' : draft.currency.toUpperCase();
  const setLevel = (key: number, rate: string) =>
    change({ levels: draft.levels.map((level) => (level.key === key ? { key, rate } : level)) });
  return (
    <Fieldset legend="Commission">
      <Stack gap="sm">
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <Input.Wrapper label="Type" labelElement="div" labelProps={{ id: 'commission-type' }}>
            <SegmentedControl
              aria-labelledby="commission-type"
              fullWidth
              data={[
                { value: 'percent', label: 'Percentage' },
                { value: 'flat', label: 'Fixed amount' },
              ]}
              value={draft.commission_type}
              onChange={(type) => change({ commission_type: type === 'flat' ? 'flat' : 'percent' })}
            />
          </Input.Wrapper>
          <TextInput
            label={isPercent ? 'Percentage of a sale' : `Amount per sale, in ${unit}`}
            required
            inputMode="decimal"
            value={draft.commission_rate}
            error={wrongWith(error, 'commission_rate')}
            onChange={(event) => change({ commission_rate: event.currentTarget.value })}
          />
          <TextInput
            label="Months that earn commission"
            description="Leave empty for no limit."
            inputMode="numeric"
            value={draft.commission_months}
            error={wrongWith(error, 'commission_months')}
            onChange={(event) => change({ commission_months: event.currentTarget.value })}
          />
          <TextInput
            label="Holding period, in days"
            description="Days until it can be paid. 0 pays at once."
            required
            inputMode="numeric"
            value={draft.hold_days}
            error={wrongWith(error, 'hold_days')}
            onChange={(event) => change({ hold_days: event.currentTarget.value })}
          />
        </SimpleGrid>
        <Checkbox
          label="First sale only"
          checked={draft.first_sale_only}
          onChange={(event) => change({ first_sale_only: event.currentTarget.checked })}
        />
        {draft.levels.map(({ key, rate }, index) => (
          <Group key={key} align="flex-end" gap="xs" wrap="nowrap">
            <TextInput
              flex={1}
              label={`Level ${index + 2}, in ${isPercent ? 'percent' : unit}`}
              inputMode="decimal"
              value={rate}
              error={wrongWith(error, `levels.${index}`)}
              onChange={(event) => setLevel(key, event.currentTarget.value)}
            />
            <ActionIcon
              variant="default"
              size={36}
              aria-label={`Remove level ${index + 2}`}
              onClick={() => change({ levels: draft.levels.filter((level) => level.key !== key) })}
            >
              <IconTrash size={16} stroke={1.6} />
            </ActionIcon>
          </Group>
        ))}
        <Group gap="sm">
          <Button
            variant="default"
            size="xs"
            disabled={draft.levels.length >= MOST_LEVELS}
            onClick={() =>
              change({
                levels: [
                  ...draft.levels,
                  { key: 1 + Math.max(-1, ...draft.levels.map(({ key }) => key)), rate: '0' },
                ],
              })
            }
          >
            Add level {draft.levels.length + 2}
          </Button>
          <Text size="xs" c="dimmed">
            Level 2 is the referrer of the referrer.
          </Text>
        </Group>
      </Stack>
    </Fieldset>
  );
}

/** Credits. */
export function CreditFields({ draft, error, change }: Props) {
  const credit = (
    label: string,
    name: 'signup_free' | 'signup_paid' | 'purchase_credit' | 'referee_credit',
    path: string,
  ) => (
    <TextInput
      label={label}
      inputMode="decimal"
      value={draft[name]}
      error={wrongWith(error, path)}
      onChange={(event) => change({ [name]: event.currentTarget.value })}
    />
  );
  return (
    <Fieldset legend="Credits">
      <Stack gap="sm">
        <Checkbox
          label="Reward with credits"
          description="Only affiliates then earn commission."
          checked={draft.credit_enabled}
          onChange={(event) => change({ credit_enabled: event.currentTarget.checked })}
        />
        {draft.credit_enabled && (
          <>
            <SimpleGrid cols={{ base: 1, xs: 2 }}>
              <TextInput
                label="Credit name"
                maxLength={40}
                value={draft.credit_kind}
                error={wrongWith(error, 'credit_kind')}
                onChange={(event) => change({ credit_kind: event.currentTarget.value })}
              />
              {credit('For a purchase', 'purchase_credit', 'purchase_credit')}
              {credit('For a signup, referrer on a free plan', 'signup_free', 'signup_credit.free')}
              {credit('For a signup, referrer on a paid plan', 'signup_paid', 'signup_credit.paid')}
              {credit('For the new user', 'referee_credit', 'referee_credit')}
            </SimpleGrid>
            <Checkbox
              label="Referrers may become affiliates"
              description="Affiliates earn commission instead of credits."
              checked={draft.allow_affiliate_upgrade}
              onChange={(event) => change({ allow_affiliate_upgrade: event.currentTarget.checked })}
            />
          </>
        )}
      </Stack>
    </Fieldset>
  );
}

/** Payouts. */
export function PayoutFields({ draft, error, change }: Props) {
  return (
    <Fieldset legend="Payouts">
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextInput
          label="Currency"
          description="Three letters. Cannot be changed after the first reward."
          maxLength={3}
          value={draft.currency.toUpperCase()}
          error={wrongWith(error, 'currency')}
          onChange={(event) => change({ currency: event.currentTarget.value })}
        />
        <TextInput
          label="Minimum payout"
          description="Smaller balances are not paid out."
          inputMode="decimal"
          value={draft.min_payout}
          error={wrongWith(error, 'min_payout')}
          onChange={(event) => change({ min_payout: event.currentTarget.value })}
        />
      </SimpleGrid>
      <MultiSelect
        mt="sm"
        label="Payout methods"
        description="Methods that referrers can choose."
        data={METHOD_CHOICES}
        value={draft.payout_methods}
        error={wrongWith(error, 'payout_methods')}
        onChange={(payout_methods) => change({ payout_methods })}
      />
    </Fieldset>
  );
}

/** The API names the parameter that is wrong. */
function linkParametersError(error: unknown): string | null {
  const paths = ['link_parameters', ...Array.from({ length: 10 }, (_, index) => `link_parameters.${index}`)];
  return paths.map((path) => wrongWith(error, path)).find((message) => message !== null) ?? null;
}
