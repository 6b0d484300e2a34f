import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressIn, networkOf } from '../../../src/lib/text/ip-address.ts';

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:C000:207', '192.0.2.7'],
  ['64:ff9b::192.0.2.7', '192.0.2.7'],
  ['2001:DB8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002:0000::9', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['', ''],
  ['agents', 'agents'],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

const group = fc.integer({ min: 0, max: 0xffff });
const plain = (groups: readonly number[]) => groups.map((each) => each.toString(16)).join(':');
/** One of the spellings of an address. */
const spelling = (groups: readonly number[]) =>
  fc.constantFrom(
    plain(groups),
    plain(groups).toUpperCase(),
    groups.map((each) => each.toString(16).padStart(4, '0')).join(':'),
    plain(groups).replace(/(?:^|:)0(?::0)+(?::|$)/, '::'),
  );

test('an address has one network, however it is spelled, and so have all that begin like it', () => {
  const cases = fc
    .tuple(
      fc.array(group, { minLength: 4, maxLength: 4 }),
      fc.array(fc.constantFrom(0, 0, 1, 0xffff), { minLength: 8, maxLength: 8 }),
    )
    .filter(([head]) => head.some((each) => each !== 0 && each !== 0x64))
    .chain(([head, ends]) =>
      fc.tuple(fc.constant(head), spelling([...head, ...ends.slice(0, 4)]), spelling([...head, ...ends.slice(4)])),
    );
  fc.assert(
    fc.property(cases, ([head, one, other]) => {
      expect(networkOf(one)).toBe(networkOf(other));
      expect(networkOf(one)).toBe(`${plain(head)}::/64`);
      expect(addressIn(one)).toBe(addressIn(one.toUpperCase()));
    }),
  );
});
