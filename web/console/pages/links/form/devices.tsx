import { Stack } from '@mantine/core';
import { AddressField } from '../../../parts/address-field.tsx';
import { type FormFields, joined, type LinkFormSection } from './fields.ts';

/** Targets of a link, in the order in which they decide. */
export const DEVICES = [
  ['ios', 'iPhones and iPads'],
  ['android', 'Android'],
  ['mobile', 'Phones and tablets'],
  ['desktop', 'Computers'],
] as const;

function DeviceFields({ draft, set, wrong }: FormFields) {
  return (
    <Stack gap="md">
      {DEVICES.map(([field, label]) => (
        <AddressField
          key={field}
          label={label}
          {...(field === 'ios' && {
            description:
              'An address of an app, such as myapp://product/17, opens the app. The first that fits decides.',
          })}
          value={draft[field]}
          error={wrong(`targeting.${field}`)}
          onChange={(value) => set(field, value)}
        />
      ))}
    </Stack>
  );
}

/** Destinations by device, apps included. */
export const DEVICE_TARGETS: LinkFormSection = {
  title: 'Devices and apps',
  hint: 'Another destination on phones, or an app',
  paths: /^targeting(\.|$)/,
  words: (draft) => joined(...DEVICES.map(([field, label]) => draft[field].trim() !== '' && label)),
  Fields: DeviceFields,
};
