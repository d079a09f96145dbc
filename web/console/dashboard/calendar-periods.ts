/** A time range of whole days, both included. */
export type CalendarPeriod = { value: string; label: string; from: string; to: string };

/**
 * The time ranges that people name, as days of the calendar. A month ends with its last day, so that the address of a
 * view means the same tomorrow.
 *
 * @param today such as `2026-02-28`
 */
export function calendarPeriods(today: string): CalendarPeriod[] {
  const [year = 0, month = 1, day = 1] = today.split('-').map(Number);
  return [
    { value: 'today', label: 'Today', from: today, to: today },
    { value: 'yesterday', label: 'Yesterday', ...range([year, month, day - 1], [year, month, day - 1]) },
    { value: 'month', label: 'This month', ...range([year, month, 1], [year, month + 1, 0]) },
    { value: 'last-month', label: 'Last month', ...range([year, month - 1, 1], [year, month, 0]) },
    { value: 'year', label: 'This year', ...range([year, 1, 1], [year, 12, 31]) },
  ];
}

type YearMonthDay = [year: number, month: number, day: number];

/** Days beyond the ends of a month belong to its neighbors. */
const dayOf = ([year, month, day]: YearMonthDay) =>
  new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10);

const range = (from: YearMonthDay, to: YearMonthDay) => ({ from: dayOf(from), to: dayOf(to) });
