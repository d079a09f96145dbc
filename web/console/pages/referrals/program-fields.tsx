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
  TextInput,
} from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { METHOD_CHOICES } from '../../../../core/referrals/payout-method-names.ts';
import { fieldSentence } from '../../api/sentence.ts';
import { AddressField } from '../../parts/address-field.tsx';
import { SmallNote } from '../../parts/note.tsx';
import { type Form, fieldsOf } from '../../parts/use-draft.ts';
import type { Draft } from './program-draft.ts';

type Props = Form<Draft>;

const MOST_LEVELS = 10;

/** Name, destination URL and code. */
export function BasicFields({ existing, ...form }: Props & { existing: boolean }) {
  const { text, choice } = fieldsOf(form);
  return (
    <Stack gap="sm">
      <TextInput label="Name" required data-autofocus maxLength={100} {...text('name')} />
      <AddressField
        label="Destination URL"
        description="The page where new users sign up"
        required
        {...choice('destination_url')}
      />
      <TextInput
        label="Link parameters"
        description="With the pixel, a page opened with one of them, such as ?ref=code, counts as a click of that referrer's link."
        {...text('link_parameters')}
        error={linkParametersError(form.error)}
      />
      <TextInput
        label="Code"
        description={`The end of the program's own link.${existing ? '' : ' Leave empty to generate one.'}`}
        required={existing}
        {...text('code')}
      />
    </Stack>
  );
}

/** Commission. */
export function CommissionFields(form: Props) {
  const { draft, error, change } = form;
  const { text, check, choice } = fieldsOf(form);
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
              onChange={choice('commission_type').onChange}
            />
          </Input.Wrapper>
          <TextInput
            label={isPercent ? 'Percentage of a sale' : `Amount per sale, in ${unit}`}
            required
            inputMode="decimal"
            {...text('commission_rate')}
          />
          <TextInput
            label="Months that earn commission"
            description="Leave empty for no limit."
            inputMode="numeric"
            {...text('commission_months')}
          />
          <TextInput
            label="Holding period, in days"
            description="Days until it can be paid. 0 pays at once."
            required
            inputMode="numeric"
            {...text('hold_days')}
          />
        </SimpleGrid>
        <Checkbox label="First sale only" {...check('first_sale_only')} />
        {draft.levels.map(({ key, rate }, index) => (
          <Group key={key} align="flex-end" gap="xs" wrap="nowrap">
            <TextInput
              flex={1}
              label={`Level ${index + 2}, in ${isPercent ? 'percent' : unit}`}
              inputMode="decimal"
              value={rate}
              error={fieldSentence(error, `levels.${index}`)}
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
          <SmallNote>Level 2 is the referrer of the referrer.</SmallNote>
        </Group>
      </Stack>
    </Fieldset>
  );
}

/** Credits. */
export function CreditFields(form: Props) {
  const { text, check } = fieldsOf(form);
  const credit = (
    label: string,
    name: 'signup_free' | 'signup_paid' | 'purchase_credit' | 'referee_credit',
    path: string,
  ) => <TextInput label={label} inputMode="decimal" {...text(name, path)} />;
  return (
    <Fieldset legend="Credits">
      <Stack gap="sm">
        <Checkbox
          label="Reward with credits"
          description="Only affiliates then earn commission."
          {...check('credit_enabled')}
        />
        {form.draft.credit_enabled && (
          <>
            <SimpleGrid cols={{ base: 1, xs: 2 }}>
              <TextInput label="Credit name" maxLength={40} {...text('credit_kind')} />
              {credit('For a purchase', 'purchase_credit', 'purchase_credit')}
              {credit('For a signup, referrer on a free plan', 'signup_free', 'signup_credit.free')}
              {credit('For a signup, referrer on a paid plan', 'signup_paid', 'signup_credit.paid')}
              {credit('For the new user', 'referee_credit', 'referee_credit')}
            </SimpleGrid>
            <Checkbox
              label="Referrers may become affiliates"
              description="Affiliates earn commission instead of credits."
              {...check('allow_affiliate_upgrade')}
            />
          </>
        )}
      </Stack>
    </Fieldset>
  );
}

/** Payouts. */
export function PayoutFields(form: Props) {
  const { draft, error, change } = form;
  const { text } = fieldsOf(form);
  return (
    <Fieldset legend="Payouts">
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <TextInput
          label="Currency"
          description="Three letters. Cannot be changed after the first reward."
          maxLength={3}
          {...text('currency')}
          value={draft.currency.toUpperCase()}
        />
        <TextInput
          label="Minimum payout"
          description="Smaller balances are not paid out."
          inputMode="decimal"
          {...text('min_payout')}
        />
      </SimpleGrid>
      <MultiSelect
        mt="sm"
        label="Payout methods"
        description="Methods that referrers can choose."
        data={METHOD_CHOICES}
        value={draft.payout_methods}
        error={fieldSentence(error, 'payout_methods')}
        onChange={(payout_methods) => change({ payout_methods })}
      />
    </Fieldset>
  );
}

/** The API names the parameter that is wrong. */
function linkParametersError(error: unknown): string | null {
  const paths = ['link_parameters', ...Array.from({ length: 10 }, (_, index) => `link_parameters.${index}`)];
  return paths.map((path) => fieldSentence(error, path)).find((message) => message !== null) ?? null;
}
