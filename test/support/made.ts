import { get } from 'node:http';
import { text } from 'node:stream/consumers';

/** What tests need that takes seconds to make. */
export type Made = 'program' | 'facade' | 'graphiql' | 'docs' | 'operations' | 'client' | 'demo';

const asked = new Map<Made, Promise<string>>();

/**
 * The path of what is made, by test/build.ts, when a test first asks for it: the program `dist/main.js` with its pages, what other
 * programs import (`dist/facade.js`), these pages, what front ends import, and a data directory with the demo data. Fails with the error of the build.
 */
export function made(name: Made): Promise<string> {
  const path = asked.get(name) ?? ask(name);
  asked.set(name, path);
  return path;
}

const ask = (name: Made): Promise<string> =>
  new Promise((resolve, reject) => {
    // A test may replace the dispatcher of fetch.
    get(`${process.env.TEST_MAKER}/${name}`, { agent: false }, (response) => {
      text(response).then(
        (body) => (response.statusCode === 200 ? resolve(body) : reject(new Error(`"${name}" is not made: ${body}`))),
        reject,
      );
    }).once('error', reject);
  });
