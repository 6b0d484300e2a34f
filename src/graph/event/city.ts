import { filmEndpoints, simpleSubject } from '../../api/film.ts';
import { type AtomLocation, type EventFeed, eventEndpoints, eventInFeed } from '../../api/event.ts';
import { present } from '../../lib/objects.ts';
import { builder } from '../../engine/builder.ts';
import { asObject, asObjects, asText, decoder, textOrNull } from '../../engine/values/decode.ts';
import { globalId, isKeyByName, isSourceId, keyByName, nameInKey } from '../../engine/values/global-id.ts';
import { Subject } from '../film/subject.ts';
import { Node, referenceOf, queryReference } from '../../engine/fields/node.ts';
import { isNumber } from '../types/user.ts';
import { Event, EventTypeEnum } from './event.ts';

interface CityShape {
  /** A pinyin word or a number; a key made of the name if the service sends only the name. */
  id: string;
  name?: string | null;
}

export const City = builder.objectRef<CityShape>('City').implement({
  description: 'A city with events. No operation reads cities; their names are taken from events.',
  interfaces: [Node],
  isReference: true,
  nodeOf: (key) => (isKeyByName(key) ? null : referenceOf(key)),
  record: {
    endpoint: eventEndpoints.ofCity,
    input: (id) => ({ id, 'max-results': 1 }),
    read: (feed: EventFeed, id) => ({ id, name: nameIn(feed) ?? null }),
  },
  fields: (t) => ({
    id: t.computed({
      type: 'ID',
      description: 'The global id. Treat it as opaque. `node` cannot load a city known only by its name.',
      needs: ['id'],
      resolve: ({ id }) => globalId('City', asText(id)),
    }),
    sourceId: t.computed({
      type: 'ID',
      nullable: true,
      description: 'The id in the service.',
      nullIf: 'the city is known only by its name',
      needs: ['id'],
      resolve: ({ id }) => (isKeyByName(asText(id)) ? null : id),
    }),
    name: t.reads(
      'name',
      textOrNull,
      'The name in Chinese. Costs one call unless an event in the response provides it.',
      { nullIf: 'the city has no events' },
    ),
    events: t.connection({
      type: Event,
      description: 'The events of the city, in the order of the service. Costs one call.',
      args: { type: t.arg({ type: EventTypeEnum, description: 'Only events of this type; all by default.' }) },
      endpoint: eventEndpoints.ofCity,
      rareField: 'author',
      from: ['id'],
      input: ({ id }, { type }) => ({ id, type: type ?? undefined }),
      isEmpty: ({ id }) => isKeyByName(id),
      representation: eventInFeed,
      provides: { members: ['name'], read: (feed) => present({ name: nameIn(feed) }) },
    }),
    inTheaters: t.connection({
      type: Subject,
      description:
        'The films now in the cinemas of this city; advance and premium tiers. Costs one call, ' +
        'and another if the name of the city must be loaded. Empty for a city without a name.',
      endpoint: filmEndpoints.inTheaters,
      from: ['id', 'name'],
      // Do not read the name if the id is a number: a name that failed to load throws on access.
      input: (city) => ({ city: isNumber(city.id) ? city.id : asText(city.name) }),
      isEmpty: (city) => !isNumber(city.id) && !asText(city.name),
      representation: simpleSubject,
    }),
  }),
});

builder.objectField(Event, 'city', (t) =>
  t.reads(
    'location',
    decoder(City, (location) => cityAt(location as AtomLocation), { nullable: true }),
    'The city of the event.',
  ),
);

queryReference(
  City,
  'A city by id. Makes no call of its own except for `name`.',
  'Global or bare id: a pinyin word such as `beijing`, or a number.',
  undefined,
  (key) => {
    const name = nameInKey(key);
    return name ? { id: key, name } : null;
  },
);

export function cityAt(location: AtomLocation | undefined): CityShape | null {
  const given = asObject(location);
  const id = asText(given.id);
  const name = asText(given.name);
  if (!isSourceId(id)) return name ? { id: keyByName(name), name } : null;
  return name ? { id, name } : { id };
}

/** Every entry of a city's feed is in that city, whose id there is a pinyin word although it was requested by a number. */
const nameIn = ({ entries }: EventFeed): string | undefined =>
  asObjects(entries).find(({ location }) => location?.name)?.location?.name;
