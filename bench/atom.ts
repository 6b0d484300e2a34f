/** Measures how long reading a feed takes, in each spelling of the XML: `npm run bench:atom`. The spellings take turns in each round. */
import { decodeBody } from '../src/upstream/http/response.ts';
import { mended } from '../src/atom/mend.ts';
import { readFields } from '../src/atom/reader.ts';
import { readers, writers } from '../src/atom/media.ts';
import { cityEvents } from './records.ts';

const FEEDS = 20;
const ROUNDS = 300;

const feeds = Array.from({ length: FEEDS }, (_, at) =>
  writers.eventFeed({ startIndex: 1, itemsPerPage: 5, totalResults: 340, entries: cityEvents(`city${at}`, 5) }),
);

const spellings: [name: string, spell: (text: string) => string][] = [
  ['plain', (text) => text],
  ['other namespace URIs', (text) => text.replaceAll(/xmlns(:\w+)?="[^"]*"/g, 'xmlns$1="urn:other$1"')],
  ['another prefix', (text) => text.replaceAll(/<(\/?)(?=[a-z]+[ />])/gi, '<$1a:').replace('xmlns=', 'xmlns:a=')],
  ['pretty-printed', (text) => text.replaceAll('><', '>\n    <')],
  ['single quotes', (text) => text.replaceAll('"', "'")],
  ['CDATA', (text) => text.replaceAll(/<(title|content|summary)>([^<]*)</g, '<$1><![CDATA[$2]]><')],
  ['comments', (text) => text.replaceAll('<link', '<!-- a link --><link')],
  ['CR LF', (text) => text.replaceAll('><', '>\r\n<')],
];

const readings = spellings.map(([name, spell]) => {
  const documents = feeds.map((text) => Buffer.from(spell(text)));
  if (!readFields(documents[0]!.toString(), 'feed')) throw new Error(`${name} has to be mended`);
  return {
    name,
    documents,
    read: (document: Buffer): unknown => readers.eventFeed(decodeBody(document).text),
    taken: [] as number[],
  };
});
readings.push({
  name: 'plain, mended first',
  documents: readings[0]!.documents.slice(0, 2),
  read: (document) => readFields(mended(document.toString()), 'feed', undefined, true),
  taken: [],
});

for (let round = 0; round < ROUNDS; round++) {
  for (const { documents, read, taken } of readings) {
    const started = process.hrtime.bigint();
    for (const document of documents) read(document);
    taken.push(Number(process.hrtime.bigint() - started) / 1000 / documents.length);
  }
}

const medianOf = (values: number[]) => values.slice(ROUNDS / 2).sort((a, b) => a - b)[ROUNDS / 4]!;
const plain = medianOf(readings[0]!.taken);
console.log(`${feeds[0]!.length} characters, 5 events`);
for (const { name, taken } of readings) {
  const median = medianOf(taken);
  console.log(`${name}: ${median.toFixed(1)} us a feed, ${(median / plain).toFixed(2)} of plain`);
}
