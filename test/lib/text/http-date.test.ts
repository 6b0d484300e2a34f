import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { httpTime } from '../../../src/lib/text/http-date.ts';

const { TZ } = process.env;
afterEach(() => {
  if (TZ === undefined) delete process.env.TZ;
  else process.env.TZ = TZ;
});

const at = Date.UTC(1994, 10, 6, 8, 49, 37);
const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

describe.each(['UTC', 'America/Los_Angeles', 'Asia/Shanghai'])('on a machine in %s', (zone) => {
  test.each<[string, number | undefined]>([
    ['Sun, 06 Nov 1994 08:49:37 GMT', at],
    ['Sun, 6 Nov 1994 08:49:37 GMT', at],
    ['Sunday, 06-Nov-94 08:49:37 GMT', at],
    ['Sun Nov  6 08:49:37 1994', at],
    ['Sun, 06 Nov 1994 08:49:37', at],
    ['06 Nov 1994 08:49:37 UTC', at],
    ['Sun, 06-Nov-1994 08:49:37 GMT', at],
    ['Sunday, 06-Nov-94 08:49:37', at],
    ['Sun, 06 Nov 1994 16:49:37 +0800', at],
    ['1994-11-06T08:49:37Z', at],
    ['1994-11-06 08:49:37', at],
    ['1994-11-06T16:49:37+08:00', at],
    [' "Sun, 06 Nov 1994 08:49:37 GMT" ', at],
    ['Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 09:49:37 GMT', at],
    ['Sun, 06 Nov 1994 08:49:37 (GMT', undefined],
    ['Sun, 06 Nov 1994 08:49:37 EST', undefined],
    ['Sun, 06 Foo 1994 08:49:37 GMT', undefined],
    ['06/11/1994 08:49:37', undefined],
    ['Sun, 06 Nov 94 08:49:37 GMT', undefined],
    ['1994-11-06', undefined],
    ['Sun, 06 Nov 1994', undefined],
    ['0', undefined],
    ['-1', undefined],
    ['', undefined],
  ])('%j is the same time as everywhere', (header, time) => {
    process.env.TZ = zone;
    expect(httpTime(header)).toBe(time);
  });

  test('each second of the years that a header may name is read in each form', () => {
    process.env.TZ = zone;
    const year = new Date().getUTCFullYear();
    const seconds = fc.integer({ min: Date.UTC(year - 49, 0, 1) / 1000, max: Date.UTC(year + 51, 0, 1) / 1000 - 1 });
    fc.assert(
      fc.property(seconds, (second) => {
        const [day, date, month, year, time] = new Date(second * 1000).toUTCString().replace(',', '').split(' ');
        const forms = [
          `${day}, ${date} ${month} ${year} ${time} GMT`,
          `${days.find((each) => each.startsWith(day!))}, ${date}-${month}-${year!.slice(2)} ${time} GMT`,
          `${day} ${month} ${date!.replace(/^0/, ' ')} ${time} ${year}`,
        ];
        expect(forms.map(httpTime)).toEqual(forms.map(() => second * 1000));
      }),
    );
  });
});
