/** What facade and reference run over: the scripted upstream here, or the origin in `origin.ts`. */
import { atomUser } from '../../src/graph/types/user.ts';
import { type Settings, senderOf } from './product.ts';
import { type Manners, type Request_, type Response_, respond } from './upstreams.ts';
import { type World, personEntry, user } from './world.ts';

export interface ServiceRequest extends Omit<Request_, 'sender'> {
  token: string | undefined;
  contentType?: string | undefined;
}
export type Fetch = (request: ServiceRequest) => Response_;

export interface Service {
  /** The response to a request of the facade. */
  answer: (request: ServiceRequest) => Response_ | Promise<Response_>;
  /** Runs the reference of one operation in the present state, which its writes do not change. */
  apart: <T>(run: (fetch: Fetch) => Promise<T>) => Promise<T>;
  /** A person in the forms in which responses contain one. */
  personsOf: (id: string) => Record<string, unknown>[];
  /** Whether a response may contain this text about a person with a token. */
  isAbout: (person: string, text: string) => boolean;
  /** Failures inside the service. */
  failures: () => readonly string[];
  close: () => Promise<void>;
}

export function openScripted(world: World, manners: Manners, settings: Settings): Service {
  const fetchFrom =
    (state: World): Fetch =>
    ({ token, ...request }) =>
      respond(state, manners, { ...request, sender: senderOf(token, settings) });
  return {
    answer: fetchFrom(world),
    apart: (run) => run(fetchFrom(world.copy())),
    personsOf: (id) => [user(world, id), atomUser(personEntry(world, id))!].map((each) => ({ ...each })),
    isAbout: (person, text) => text.includes(person) || text === '[已注销]',
    failures: () => [],
    close: () => Promise.resolve(),
  };
}
