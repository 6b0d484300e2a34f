import {
  type CelebrityRecord,
  type PersonCredit,
  RECORD_CASTS,
  RECORD_WORKS,
  type SubjectRecord,
  WORKS_COUNT_DEFAULT,
  type WorkRecord,
  celebrityMembers,
  filmEndpoints,
  simpleCelebrity,
} from '../../api/film.ts';
import { builder } from '../../engine/builder.ts';
import {
  asItems,
  asObjects,
  asText,
  asTexts,
  decoder,
  siteOrNull,
  textOrNull,
  textsOrNull,
  urlOrNull,
} from '../../engine/values/decode.ts';
import { globalId, isKeyByName, isSourceId, keyByName } from '../../engine/values/global-id.ts';
import { imageOrNull } from '../types/image.ts';
import { WebPage } from '../types/web-page.ts';
import { Node, queryById, referenceOf } from '../../engine/fields/node.ts';
import { Subject, embeddedSubject } from './subject.ts';

export const Celebrity = builder.objectRef<CelebrityRecord>('Celebrity').implement({
  noun: 'person',
  description:
    'A person who works on films. A person without a page has no `sourceId` and only a name. ' +
    'The premium tier cannot read the record; the lists `works` and `photos` provide `name`, `portrait` and `webUrl`.',
  interfaces: [Node, WebPage],
  record: {
    endpoint: filmEndpoints.celebrity,
    input: (id) => ({ id }),
    members: Object.keys(celebrityMembers),
    keyOf: pageOf,
  },
  shortForm: simpleCelebrity,
  nodeOf: (key) => (isKeyByName(key) ? null : referenceOf(key)),
  fields: (t) => ({
    id: t.computed({
      type: 'ID',
      description: 'The global id. Treat it as opaque. `node` cannot load a person without a page.',
      needs: ['id', 'name'],
      resolve: (person) => globalId('Celebrity', pageOf(person) ?? keyByName(asText(person.name))),
    }),
    sourceId: t.computed({
      type: 'ID',
      nullable: true,
      description: 'The id in the service.',
      nullIf: 'the person has no page',
      needs: ['id'],
      resolve: pageOf,
    }),
    name: t.reads('name', textOrNull, 'The name in Chinese.'),
    nameEn: t.reads('name_en', textOrNull, 'The name in English; basic and advance tiers.'),
    alternativeNames: t.reads('aka', textsOrNull, 'More Chinese names; basic and advance tiers.'),
    alternativeNamesEn: t.reads('aka_en', textsOrNull, 'More English names; basic and advance tiers.'),
    portrait: t.reads(
      'avatars',
      imageOrNull,
      'The portrait: 70x100, 140x200 and 420x600 pixels as specified, in practice often one size for all.',
    ),
    webUrl: t.reads('alt', urlOrNull, 'The page of the person.'),
    mobileUrl: t.reads('mobile_url', urlOrNull, 'The page for small screens; basic and advance tiers.'),
    websiteUrl: t.reads('website', siteOrNull, 'The official site; advance tier.'),
    gender: t.reads('gender', textOrNull, 'The gender in Chinese: 男 or 女; basic and advance tiers.'),
    birthday: t.reads(
      'birthday',
      textOrNull,
      'The birthday in the format of the service, usually YYYY-MM-DD; advance tier.',
    ),
    bornPlace: t.reads('born_place', textOrNull, 'The place of birth, free text; basic and advance tiers.'),
    constellation: t.reads('constellation', textOrNull, 'The sign of the zodiac, in Chinese; advance tier.'),
    professions: t.reads('professions', textsOrNull, 'The professions in Chinese: 导演, 演员; advance tier.'),
    summary: t.reads('summary', textOrNull, 'The biography, plain text; advance tier.'),
    works: t.connection({
      type: CelebrityWork,
      pageSize: WORKS_COUNT_DEFAULT,
      description:
        'The films of this person in the order of the service, usually newest first. The record contains the first 5; ' +
        'more cost one call. The basic tier gets only the first 5.',
      endpoint: filmEndpoints.works,
      from: ['id'],
      input: ({ id }) => ({ id: id ?? '' }),
      isEmpty: (person) => pageOf(person) === null,
      items: ({ works }) => asItems<WorkRecord | SubjectRecord, WorkRecord>(works, workFrom),
      representation: { members: ['roles', 'subject'] },
      embedded: {
        member: 'works',
        upTo: RECORD_WORKS,
        representation: { members: ['roles', 'subject'] },
        mayOmit: ['roles'],
      },
      provides: besidePerson,
    }),
  }),
});

/** Beside the list of a person's things stands the person, in the short representation. */
export const besidePerson = {
  ...simpleCelebrity,
  read: ({ celebrity }: { celebrity?: PersonCredit }) => celebrity,
};

const rolesOrNull = decoder(
  'String',
  (roles): string[] | null => (roles === undefined || roles === null ? null : asTexts(roles)),
  { list: true, nullIf: 'the service returns only the film' },
);

const CelebrityWork = builder.objectRef<WorkRecord>('CelebrityWork').implement({
  description: "A film in a person's list of works.",
  fields: (t) => ({
    roles: t.reads('roles', rolesOrNull, 'The roles of the person in Chinese: 导演, 演员, 编剧.'),
    subject: embeddedSubject(t),
  }),
});

/** Assumed sizes for the cost estimate, because the lists have no limit. */
const DIRECTORS = 4;
const WRITERS = 10;

/** A credit as a record; a missing id becomes null, which means "without a page". */
const credited = (person: PersonCredit): CelebrityRecord =>
  'id' in person ? person : { ...(person as PersonCredit), id: null };
const credits = decoder(Celebrity, (people) => asObjects(people as PersonCredit[]).map(credited), {
  list: true,
  nullIf: false,
});

builder.objectFields(Subject, (t) => ({
  directors: t.reads('directors', credits, 'The directors, in the order of the service.', {
    representation: simpleCelebrity,
    assumedSize: DIRECTORS,
    usualSize: 1,
  }),
  casts: t.reads('casts', credits, 'The cast, at most 4, in the order of the service.', {
    representation: simpleCelebrity,
    assumedSize: RECORD_CASTS,
  }),
  writers: t.reads('writers', credits, 'The writers; advance and premium tiers.', {
    representation: simpleCelebrity,
    assumedSize: WRITERS,
    usualSize: 2,
  }),
}));

queryById(Celebrity, filmEndpoints.celebrity, 'A film person by id; basic and advance tiers.', '1054521');

/** The id of a person's page; null without a page, as for 3 % of the people. */
function pageOf({ id }: { id?: unknown }): string | null {
  const page = asText(id);
  return isSourceId(page) ? page : null;
}

/** The interface's table has bare subjects as works of a record; the real service embeds works with roles, as in the list. */
function workFrom(work: WorkRecord | SubjectRecord): WorkRecord {
  return 'subject' in work || 'roles' in work ? (work as WorkRecord) : { subject: work };
}
