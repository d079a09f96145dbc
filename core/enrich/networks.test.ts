import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { networkFile, readNetworkFile } from './network-file.ts';
import {
  createNetworks,
  type NetworkTable,
  networkTable,
  newNetworkFile,
  noNetworks,
  type OpenedNetworks,
  openNetworks,
} from './networks.ts';

let networks: OpenedNetworks;
let directory: string;
let built: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'hoplog-networks-'));
  built = join(directory, 'networks.bin');
  networks = openNetworks(built);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function v4(text: string): Uint8Array {
  return Uint8Array.from([...new Array(10).fill(0), 255, 255, ...text.split('.').map(Number)]);
}

function v6(groups: string): Uint8Array {
  return Uint8Array.from(Buffer.from(groups.replaceAll(':', ''), 'hex'));
}

test('the system of an address is known for IPv4 and IPv6', () => {
  expect(networks.asnOf(v4('8.8.8.8'))).toBe(15_169);
  expect(networks.asnOf(v4('1.1.1.1'))).toBe(13_335);
  expect(networks.asnOf(v6('2001:4860:4860:0000:0000:0000:0000:8888'))).toBe(15_169);
  expect(networks.asnOf(v6('2606:4700:4700:0000:0000:0000:0000:1111'))).toBe(13_335);
});

test.each(['127.0.0.1', '10.1.2.3', '192.168.0.1', '0.0.0.0', '255.255.255.255'])('%s has none', (ip) => {
  expect(networks.asnOf(v4(ip))).toBe(0);
});

test.each([
  '0000:0000:0000:0000:0000:0000:0000:0001',
  'fe80:0000:0000:0000:0000:0000:0000:0001',
  'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
])('%s has none', (ip) => {
  expect(networks.asnOf(v6(ip))).toBe(0);
});

test('the tables take little memory', () => {
  expect(networks.bytes).toBeLessThan(10 * 2 ** 20);
});

test('each address of a range has its system, those around it have not', () => {
  const ranges = [
    { first: 0x0909_0000, last: 0x0909_00ff, asn: 7 },
    { first: 0x0909_0100, last: 0x0909_01ff, asn: 7 },
    // Begins inside the range before it: the first one counts.
    { first: 0x0909_0180, last: 0x0909_02ff, asn: 8 },
    { first: 0xffff_ff00, last: 0xffff_ffff, asn: 9 },
  ];
  const nothing: NetworkTable = networkTable([], Float64Array, 0);
  const { asnOf } = createNetworks(networkTable(ranges, Uint32Array, ranges.length), nothing);
  const found = ['9.8.255.255', '9.9.0.0', '9.9.1.255', '9.9.2.0', '9.9.2.255', '9.9.3.0', '255.255.255.255'];
  expect(found.map((ip) => asnOf(v4(ip)))).toEqual([0, 7, 7, 8, 8, 0, 9]);
  expect(asnOf(v6('0909:0000:0000:0000:0000:0000:0000:0000'))).toBe(0);
  expect(noNetworks().asnOf(v4('9.9.0.0'))).toBe(0);
});

test('a /24 with two systems, or with a part that has none, is not uniform', () => {
  const ranges = [
    { first: 0x0909_0000, last: 0x0909_007f, asn: 7 },
    { first: 0x0909_0080, last: 0x0909_01ff, asn: 8 },
    { first: 0x0909_0300, last: 0x0909_03fe, asn: 9 },
  ];
  const table = networkTable(ranges, Uint32Array, ranges.length);
  const { isUniform } = createNetworks(table, networkTable([], Float64Array, 0));
  const nets = ['9.9.0.9', '9.9.1.9', '9.9.2.9', '9.9.3.9', '9.9.4.9'];
  expect(nets.map((ip) => isUniform(v4(ip)))).toEqual([false, true, true, false, true]);
  expect(isUniform(v6('0909:0000:0000:0000:0000:0000:0000:0000'))).toBe(true);
});

test('the file of the build has the same tables', () => {
  const content = newNetworkFile(built);
  if (content === null) throw new Error('there is a file already');
  writeFileSync(built, content);
  expect(newNetworkFile(built)).toBeNull();
  const fromFile = openNetworks(built);
  expect(fromFile.bytes).toBe(networks.bytes);
  for (let nth = 0; nth < 20_000; nth += 1) {
    const address = v4([24, 16, 8, 0].map((bits) => ((nth * 214_013) >>> bits) & 255).join('.'));
    expect(fromFile.asnOf(address)).toBe(networks.asnOf(address));
    const long = v6(`2${(nth * 26_839).toString(16).padStart(11, '0')}${'0'.repeat(20)}`);
    expect(fromFile.asnOf(long)).toBe(networks.asnOf(long));
  }
});

test('a file that is damaged, or of another version, is not used', () => {
  const ranges = [{ first: 3, last: 5, asn: 7 }];
  const tables = {
    v4: networkTable(ranges, Uint32Array, ranges.length),
    v6: networkTable(ranges, Float64Array, ranges.length),
  };
  const content = networkFile(tables, '2.0.1');
  const path = join(directory, 'small.bin');
  const readAs = (bytes: Uint8Array, version: string) => {
    writeFileSync(path, bytes);
    return readNetworkFile(path, version);
  };
  expect(readAs(content, '2.0.1')).toEqual(tables);
  expect(readAs(content, '2.0.2')).toBeNull();
  expect(readAs(content.subarray(0, -1), '2.0.1')).toBeNull();
  expect(readAs(content.subarray(0, 20), '2.0.1')).toBeNull();
  expect(readAs(Uint8Array.from(content).fill(0, 0, 4), '2.0.1')).toBeNull();
  expect(readNetworkFile(join(directory, 'missing.bin'), '2.0.1')).toBeNull();
});
