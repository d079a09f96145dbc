import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconFilter } from '@tabler/icons-react';
import { type ReactNode, useId } from 'react';
import { useSearchParams } from 'wouter';

type Props = {
  label: string;
  /** Parameters of the URL that the filters set. */
  names: readonly string[];
  /** A field that a phone shows too. */
  search?: ReactNode;
  /** Buttons at the end, which a phone shows too. */
  actions?: ReactNode;
  /** Fills the width with the fields. */
  isWide?: boolean;
  children: ReactNode;
};

/** Filters of a list. On a phone they are behind one button, which says how many are set. */
export function FilterBar({ label, names, search, actions, isWide = false, children }: Props) {
  const [isOpen, { toggle }] = useDisclosure(false);
  const [parameters] = useSearchParams();
  const fields = useId();
  const count = names.filter((name) => parameters.get(name)).length;
  return (
    <search className="filter-bar" aria-label={label} data-wide={isWide || undefined}>
      {search}
      <Button
        variant="default"
        size={isWide ? 'sm' : 'xs'}
        hiddenFrom="sm"
        leftSection={<IconFilter size={16} aria-hidden />}
        aria-expanded={isOpen}
        aria-controls={fields}
        onClick={toggle}
      >
        {count === 0 ? 'Filters' : `Filters (${count})`}
      </Button>
      <div id={fields} className="filter-fields" data-open={isOpen || undefined}>
        {children}
      </div>
      {actions}
    </search>
  );
}
