/** Who can send the requests of the pages: the users of the demo, or nobody. */
import type { Config } from '../../../config/settings.ts';

export interface DemoPerson {
  name: string;
  /** Undefined for requests without a token. */
  authorization?: string;
  about: string;
}

const people: readonly DemoPerson[] = [
  {
    name: 'alice',
    authorization: 'Bearer demo-alice',
    about: 'A reader with a full shelf and private notes. Film tier: advance.',
  },
  {
    name: 'bob',
    authorization: 'Bearer demo-bob',
    about: 'A friend of alice. Film tier: basic, with fewer fields and 40 calls a minute.',
  },
  {
    name: 'carol',
    authorization: 'Bearer demo-carol',
    about: 'A friend of nobody, who sees only what is public. Film tier: premium.',
  },
  { name: 'nobody', about: 'No token: books and films are read with the token of the facade, notes are not.' },
];

export type DemoSettings = Pick<Config, 'ownOrigin' | 'demo'>;

/** Undefined unless the origin of the demo runs beside the facade and accepts their tokens. */
export const demoPeople = ({ ownOrigin, demo }: DemoSettings): readonly DemoPerson[] | undefined =>
  ownOrigin && demo ? people : undefined;
