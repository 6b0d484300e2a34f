import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { journey } from '../support/journey.ts';
import { picture, temporaryDirectory } from '../support/service.ts';

const readme = readFileSync('README.md', 'utf8');
/** Every block that shows an answer, with the block before it: what was asked. */
const examples = [...readme.matchAll(/```(graphql|sh)\n((?:(?!```)[^])*)\n```\s+```json\n((?:(?!```)[^])*)\n```/g)].map(
  ([, language, question, answer]) => ({ language, question: question!, answer: JSON.parse(answer!) as unknown }),
);
// The addresses in records are as long as where `npm start` puts the origin: their bytes are counted.
const here = await journey({}, undefined, { publicUrl: 'http://127.0.0.1:4001' });

test('the first example answers as printed, at the price that is told', async () => {
  const { question, answer: printed } = examples.find(({ language }) => language === 'graphql')!;
  const bytes = (passed: readonly { bytes: number }[]) => passed.reduce((sum, call) => sum + call.bytes, 0);
  const row = (title: string) => new RegExp(`^\\| ${title} .*$`, 'm').exec(readme)?.[0].replaceAll(',', '') ?? '';

  const first = await here.cost(question, { token: 'demo-alice' });
  expect(first.answer).toEqual(printed);
  const got = Buffer.byteLength(JSON.stringify(first.answer));
  const again = await here.cost(question, { token: 'demo-alice' });
  expect(row('through the graph, first').match(/\d+/g)?.map(Number)).toEqual([
    1,
    first.calls,
    first.depth,
    bytes(first.passed),
    got,
  ]);
  expect(row('through the graph, again').match(/\d+/g)?.map(Number)).toEqual([
    1,
    again.calls,
    again.depth,
    bytes(again.passed),
    got,
  ]);

  const alone = [
    '/v2/book/6082808',
    '/v2/book/6082808/collection',
    '/v2/book/series/10489/books?count=2',
    '/v2/book/6082808/annotations?count=2',
    '/v2/movie/top250?count=2',
    '/v2/movie/subject/1292052',
    '/v2/movie/subject/1291546',
  ];
  const answers = await Promise.all(alone.map((path) => here.origin.get(path, 'alice')));
  const sum = answers.reduce((total, { text }) => total + Buffer.byteLength(text), 0);
  expect(row('client alone').match(/\d+/g)?.map(Number)).toEqual([alone.length, alone.length, sum, sum]);
});

const curl = await promisify(execFile)('curl', ['--version']).catch(() => undefined);

test.skipIf(!curl)('every line for the shell answers as printed', async () => {
  const cwd = temporaryDirectory();
  writeFileSync(join(cwd, 'picture.png'), Buffer.from(await picture().arrayBuffer()));
  const lines = examples.filter(({ language }) => language === 'sh');
  expect(lines).toHaveLength(3);
  for (const { question, answer } of lines) {
    const command = question.replace('http://localhost:4000', here.facade.url);
    const { stdout } = await promisify(execFile)('bash', ['-c', command], { cwd });
    expect(JSON.parse(stdout)).toEqual(answer);
  }
});

test('every dependency is told, and none that is not there', () => {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: object };
  const table = readme.slice(readme.indexOf('## Dependencies'), readme.indexOf('## What the interface leaves open'));
  const told = [...table.matchAll(/^\| (`.*?) +\|/gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
  );
  expect(told.sort()).toEqual(Object.keys(dependencies).sort());
});
