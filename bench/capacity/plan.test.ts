import { expect, test } from 'vitest';
import { figuresIn, NEEDED, planOf } from './plan.ts';

const FIGURES = {
  redirects_per_second: 40_000,
  shipper_cpu_per_million: 1,
  kafka_bytes_per_click: 100,
  worker_clicks_per_cpu_second: 200_000,
  store_cpu_per_million: 5,
  clickhouse_bytes_per_click_merged: 50,
};
const WANTED = {
  clicksPerDay: 864_000_000,
  peak: 4,
  use: 0.5,
  replicas: 3,
  kafkaDays: 7,
  storeCores: 8,
  storeDiskBytes: 1e12,
};

test('a plan has cores for the peak and disk for the days', () => {
  expect(planOf(FIGURES, WANTED)).toEqual({
    meanPerSecond: 10_000,
    peakPerSecond: 40_000,
    redirectCore: 20_000,
    workerCore: 100_000,
    storeNode: 400_000,
    redirectCores: 2,
    shipperCores: 0.04,
    workerCores: 1,
    storeInsertCores: 0.2,
    kafkaBytesPerSecond: 4_000_000,
    kafkaBytes: 864_000_000 * 7 * 3 * 100,
    storeBytesPerDay: 43_200_000_000,
    storeDaysOnDisk: expect.closeTo(16.2, 1),
  });
});

test('figures are read out of results, and what is not measured is named', () => {
  const lines = NEEDED.map((name) => `${name} ${FIGURES[name]}`);
  expect(figuresIn(['no figures here\n', ['a table', '', 'figures', ...lines, ''].join('\n')])).toEqual(
    FIGURES,
  );
  expect(() => figuresIn([['figures', ...lines.slice(1), ''].join('\n')])).toThrow('redirects_per_second');
});
