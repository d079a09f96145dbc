import { useLocalStorage } from '@mantine/hooks';
import { useMemo } from 'react';

/** A column that a person may leave out. */
export type ChoiceColumn = {
  key: string;
  name: string;
  /** Left out until a person chooses it. */
  isExtra?: boolean;
};

export type ColumnChoice<Column extends ChoiceColumn> = {
  offered: readonly Column[];
  shown: readonly Column[];
  isShown: (column: Column) => boolean;
  show: (key: string, isOn: boolean) => void;
  reset: () => void;
};

/**
 * Which of the offered columns a person chose, in this browser.
 *
 * @param keptAs the key of the choice in the browser's storage
 * @param offered the same list while nothing changes
 */
export function useColumnChoice<Column extends ChoiceColumn>(
  keptAs: string,
  offered: readonly Column[],
): ColumnChoice<Column> {
  const [changed, setChanged] = useLocalStorage<Record<string, boolean>>({
    key: keptAs,
    defaultValue: {},
    getInitialValueInEffect: false,
  });
  return useMemo(() => {
    // Another page of the origin may have stored anything.
    const isShown = ({ key, isExtra }: ChoiceColumn) =>
      typeof changed?.[key] === 'boolean' ? changed[key] : !isExtra;
    return {
      offered,
      isShown,
      shown: offered.filter(isShown),
      show: (key, isOn) => setChanged({ ...changed, [key]: isOn }),
      reset: () => setChanged({}),
    };
  }, [changed, setChanged, offered]);
}
