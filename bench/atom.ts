/** What reading a feed costs, scanned and parsed: the two feeds of W5, in turns. `npm run bench:atom` */
import { parse } from '../src/contract/atom/parser.ts';
import { decodeEventFeed, decodePersonFeed } from '../src/contract/atom/records.ts';
import { scan } from '../src/contract/atom/scanner.ts';
import { writers } from '../src/contract/atom.ts';
import { cityEvents, participants } from './records.ts';

const FEEDS = 20;
const ROUNDS = 500;

const page = { startIndex: 1, itemsPerPage: 5, totalResults: 340 };
const many = (write: (at: number) => string) => Array.from({ length: FEEDS }, (_, at) => Buffer.from(write(at)));
const people = many((at) => writers.personFeed({ ...page, entries: participants(100 + at, 3) }));
const events = many((at) => writers.eventFeed({ ...page, entries: cityEvents(`city${at}`, 5) }));

const readings: [string, Buffer[], (document: Buffer) => unknown][] = [
  ['3 participants, scanned', people, (document) => decodePersonFeed(scan(document, 'feed')!)],
  ['3 participants, parsed', people, (document) => decodePersonFeed(parse(document.toString(), 'feed'))],
  ['5 events, scanned', events, (document) => decodeEventFeed(scan(document, 'feed')!)],
  ['5 events, parsed', events, (document) => decodeEventFeed(parse(document.toString(), 'feed'))],
];

const taken = readings.map((): number[] => []);
for (let round = 0; round < ROUNDS; round++) {
  for (const [at, [, documents, read]] of readings.entries()) {
    const started = process.hrtime.bigint();
    for (const document of documents) read(document);
    taken[at]!.push(Number(process.hrtime.bigint() - started) / 1000 / FEEDS);
  }
}
for (const [at, [name]] of readings.entries()) {
  const warm = taken[at]!.slice(ROUNDS / 2).sort((a, b) => a - b);
  console.log(`${name}: ${warm[warm.length >> 1]!.toFixed(1)} us a feed, ${warm[0]!.toFixed(1)} at the least`);
}
