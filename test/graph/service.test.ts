import { type GraphQLField, type GraphQLObjectType, isObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { bookEndpoints } from '../../src/api/book.ts';
import { type Endpoint, type Tier, tiers } from '../../src/api/endpoint.ts';
import { eventEndpoints } from '../../src/api/event.ts';
import { celebrityMembers, filmEndpoints, subjectMembers } from '../../src/api/film.ts';
import { noteEndpoints } from '../../src/api/note.ts';
import { fieldRule } from '../../src/engine/plan/read-declarations.ts';
import { schema } from '../../src/graph/schema.ts';
import { facade } from '../support/facade.ts';

interface Requirement {
  coordinate: string;
  tiers: string[] | null;
  scopes: string[];
  loginRequired: boolean;
}
const document = `{
  service {
    limits {
      firstMax searchTextMaxLength
      book {
        listCountMax listCountDefault searchStartDefault tagsMax reviewContentMinLength collectionCommentMaxLength collectionTagsMax
        ratingMin ratingMax annotationContentMinLength annotationPageMin annotationPageMax annotationChapterMaxLength
      }
      film {
        castsMax genresMax trailersMax clipsMax bloopersMax subjectPhotosMax subjectReviewsMax celebrityWorksMax celebrityPhotosMax
        basicSearchTotalMax reviewSummaryMaxLength commentContentMaxLength
      }
      pictures { maxBytes numberMax perMutation perNoteRequest }
      rates { tier callsPerMinute }
    }
    fieldRequirements { coordinate tiers scopes loginRequired }
  }
}`;

async function service() {
  const { execute, calls } = facade({ maxPictures: 7 });
  const { data, errors } = await execute(document);
  expect(errors).toBeUndefined();
  expect(calls).toEqual([]);
  return data.service as { limits: Record<string, never>; fieldRequirements: Requirement[] };
}
const requirements = async () =>
  new Map((await service()).fieldRequirements.map((requirement) => [requirement.coordinate, requirement]));

const upper = (names: readonly Tier[]) => names.map((name) => name.toUpperCase());

test('the limits are those of the service', async () => {
  expect((await service()).limits).toEqual({
    firstMax: 100,
    searchTextMaxLength: 1000,
    book: {
      listCountMax: 100,
      listCountDefault: 20,
      searchStartDefault: 0,
      tagsMax: 50,
      reviewContentMinLength: 151,
      collectionCommentMaxLength: 350,
      collectionTagsMax: 100,
      ratingMin: 1,
      ratingMax: 5,
      annotationContentMinLength: 16,
      annotationPageMin: 1,
      annotationPageMax: 999_999,
      annotationChapterMaxLength: 100,
    },
    film: {
      castsMax: 4,
      genresMax: 3,
      trailersMax: 4,
      clipsMax: 4,
      bloopersMax: 4,
      subjectPhotosMax: 10,
      subjectReviewsMax: 10,
      celebrityWorksMax: 5,
      celebrityPhotosMax: 10,
      basicSearchTotalMax: 20,
      reviewSummaryMaxLength: 100,
      commentContentMaxLength: 140,
    },
    pictures: { maxBytes: 2_999_999, numberMax: 999_999, perMutation: 7, perNoteRequest: 3 },
    rates: [
      { tier: 'BASIC', callsPerMinute: 40 },
      { tier: 'ADVANCE', callsPerMinute: null },
      { tier: 'PREMIUM', callsPerMinute: null },
    ],
  });
});

describe('a limit of an input is enforced', () => {
  const text = (length: number) => '字'.repeat(length);
  const annotation = (input: object) => ({ bookId: '7', content: text(20), ...input });
  const collection = (input: object) => ({ bookId: '7', status: 'WISH', ...input });
  // The value of the limit is allowed, the value one step further is a violation.
  test.each<[limit: string, beyond: 1 | -1, mutation: string, input: (value: number) => object]>([
    ['reviewContentMinLength', -1, 'createReview', (n) => ({ bookId: '7', title: 'a', content: text(n) })],
    ['annotationContentMinLength', -1, 'createAnnotation', (n) => annotation({ content: text(n) })],
    ['annotationPageMin', -1, 'createAnnotation', (page) => annotation({ page })],
    ['annotationPageMax', 1, 'createAnnotation', (page) => annotation({ page })],
    ['annotationChapterMaxLength', 1, 'createAnnotation', (n) => annotation({ chapter: text(n) })],
    ['collectionCommentMaxLength', 1, 'collectBook', (n) => collection({ comment: text(n) })],
    ['collectionTagsMax', 1, 'collectBook', (n) => collection({ tags: Array.from({ length: n }, String) })],
    ['ratingMin', -1, 'collectBook', (rating) => collection({ rating })],
    ['ratingMax', 1, 'collectBook', (rating) => collection({ rating })],
  ])('as %s says', async (limit, beyond, mutation, inputOf) => {
    const value = (await service()).limits.book![limit] as number;
    const { execute, calls } = facade({}, { allowsUndeclared: true });
    const violations = async (input: object) => {
      const type = `${mutation[0]!.toUpperCase()}${mutation.slice(1)}Input!`;
      const { errors } = await execute(`mutation ($input: ${type}) { ${mutation}(input: $input) { __typename } }`, {
        variables: { input },
        token: 'alice',
      });
      return (errors?.[0]?.extensions?.violations ?? []) as unknown[];
    };
    expect(await violations(inputOf(value + beyond))).toHaveLength(1);
    expect(calls).toEqual([]);
    expect(await violations(inputOf(value))).toEqual([]);
    expect(calls).toHaveLength(1);
  });
});

describe('the requirements of a field', () => {
  const open = { scopes: [], loginRequired: false, tiers: null };

  test('are those of its endpoint, for every field that calls one', async () => {
    const listed = await requirements();
    const fieldsOf = new Map<Endpoint, string[]>();
    for (const type of Object.values(schema.getTypeMap())) {
      if (!isObjectType(type)) continue;
      for (const field of Object.values(type.getFields()) as GraphQLField<unknown, unknown>[]) {
        const { endpoint, endpoints, writeEndpoint } = fieldRule(field);
        expect([field.name, typeof endpoint === 'function']).toEqual([field.name, endpoints !== undefined]);
        const own = writeEndpoint ?? (typeof endpoint === 'object' ? endpoint : undefined);
        for (const each of own ? [own] : (endpoints ?? []))
          fieldsOf.set(each, [...(fieldsOf.get(each) ?? []), `${type.name}.${field.name}`]);
      }
    }
    const all = [bookEndpoints, noteEndpoints, filmEndpoints, eventEndpoints].flatMap(
      (table) => Object.values(table) as Endpoint[],
    );
    expect(fieldsOf.size).toBeGreaterThan(50);
    for (const endpoint of all)
      for (const coordinate of fieldsOf.get(endpoint) ?? []) {
        // A field that is not listed is open to everybody.
        const { scopes, loginRequired, tiers } = listed.get(coordinate) ?? open;
        if (endpoint.scope)
          expect([coordinate, scopes]).toEqual([coordinate, expect.arrayContaining([endpoint.scope])]);
        else expect([coordinate, scopes]).toEqual([coordinate, []]);
        if (endpoint.login) expect([coordinate, loginRequired]).toEqual([coordinate, true]);
        if (endpoint.share === 'tier')
          expect([coordinate, tiers]).toEqual([coordinate, expect.arrayContaining(upper(endpoint.tiers))]);
        else expect([coordinate, tiers]).toEqual([coordinate, null]);
      }
  });

  test('are the tiers of the member that the field reads', async () => {
    const listed = await requirements();
    expect(listed.get('Subject.writers')!.tiers).toEqual(upper(subjectMembers.writers));
    expect(listed.get('Subject.genres')!.tiers).toEqual(upper(subjectMembers.genres));
    expect(listed.get('Celebrity.birthday')!.tiers).toEqual(upper(celebrityMembers.birthday));
    expect(listed.get('Book.summary')).toEqual({
      coordinate: 'Book.summary',
      tiers: null,
      scopes: ['book_basic_r'],
      loginRequired: false,
    });
  });

  test('are named in its description, or in that of its type, if not every tier gets it', async () => {
    // Lists provide these to other tiers too, as the description of the type says.
    const provided = ['id', 'name', 'portrait', 'webUrl'].map((name) => `Celebrity.${name}`);
    const gated = [...(await requirements()).values()].filter(
      ({ coordinate, tiers: having }) => having && having.length < tiers.length && !provided.includes(coordinate),
    );
    expect(gated.length).toBeGreaterThan(30);
    for (const { coordinate, tiers: having } of gated) {
      const [type = '', field = ''] = coordinate.split('.');
      const owner = schema.getType(type) as GraphQLObjectType;
      const said = `; ${having!.join(' and ').toLowerCase()} tier`;
      expect(`${owner.description} ${owner.getFields()[field]!.description}`, coordinate).toContain(said);
    }
  });

  test('are all tiers that get a part of a list, because its first items may be embedded in the record', async () => {
    const listed = await requirements();
    expect(listed.get('Celebrity.works')).toEqual({
      coordinate: 'Celebrity.works',
      tiers: ['BASIC', 'ADVANCE', 'PREMIUM'],
      scopes: ['movie_advance_r', 'movie_basic_r'],
      loginRequired: false,
    });
  });

  test('contain no field that asks nothing of the caller', async () => {
    const { fieldRequirements } = await service();
    expect(
      fieldRequirements.filter(({ tiers, scopes, loginRequired }) => !tiers && scopes.length === 0 && !loginRequired),
    ).toEqual([]);
  });

  test('are at most as many as the cost assumes', async () => {
    const { fieldRequirements } = await service();
    const rule = fieldRule(
      (schema.getType('Service') as never as { getFields(): never }).getFields()['fieldRequirements'],
    );
    expect(fieldRequirements.length).toBeLessThanOrEqual(rule.assumedSize!);
  });
});

describe('canUse', () => {
  const canUse = async (made: ReturnType<typeof facade>, coordinate: string, token?: string) => {
    const { data } = await made.execute('query ($coordinate: String!) { viewer { canUse(coordinate: $coordinate) } }', {
      variables: { coordinate },
      ...(token && { token }),
    });
    return (data.viewer as { canUse: boolean | null }).canUse;
  };

  test.each(tiers)('agrees with the error of a chart on the %s tier', async (filmTier) => {
    const listed = await requirements();
    for (const chart of ['top250', 'usBoxOffice', 'weeklyChart', 'newMovies', 'inTheaters', 'comingSoon']) {
      const made = facade({ accessToken: 'x', filmTier }, { allowsUndeclared: true });
      const { errors } = await made.execute(`{ ${chart} { __typename } }`);
      const rejected = errors?.[0]?.extensions?.code === 'TIER_REQUIRED';
      expect([chart, await canUse(made, `Query.${chart}`)]).toEqual([chart, !rejected]);
      if (rejected) expect(errors[0]!.extensions.tiers).toEqual(listed.get(`Query.${chart}`)!.tiers);
    }
  });

  test('is false without a token for every field that requires a login, and true with one', async () => {
    const made = facade();
    for (const name of Object.keys(schema.getMutationType()!.getFields())) {
      expect([name, await canUse(made, `Mutation.${name}`)]).toEqual([name, false]);
      expect([name, await canUse(made, `Mutation.${name}`, 'alice')]).toEqual([name, true]);
    }
    const { errors } = await made.execute('{ note(id: "1") { title } }');
    expect(errors?.[0]?.extensions?.code).toBe('LOGIN_REQUIRED');
    expect(await canUse(made, 'Query.note')).toBe(false);
    expect(await canUse(made, 'Book.viewerCollection')).toBe(false);
  });

  test('is null while the tier is unknown, and true if nothing is required', async () => {
    const made = facade({ accessToken: 'x' });
    expect(await canUse(made, 'Query.top250', 'alice')).toBe(null);
    expect(await canUse(made, 'Query.user')).toBe(true);
    expect(await canUse(made, 'Query.book')).toBe(true);
    expect(made.calls).toEqual([]);
  });

  test.each(['', 'Query', 'Query.nothing', 'Query.toString', 'Nothing.id', 'Query.book.title', 'DateTime.id'])(
    'rejects %j, which is not a field',
    async (coordinate) => {
      const { data, errors } = await facade().execute(
        'query ($coordinate: String!) { viewer { canUse(coordinate: $coordinate) } }',
        { variables: { coordinate } },
      );
      expect(data.viewer).toEqual({ canUse: null });
      expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', argument: 'coordinate' });
    },
  );
});

test('limits and requirements cost no upstream call', async () => {
  const { execute } = facade();
  const { extensions } = await execute(document.replace('{', '{ viewer { canUse(coordinate: "Query.top250") }'), {
    explain: 'plan',
  });
  expect(extensions).toMatchObject({ upstream: { min: 0, max: 0, fields: [] } });
});

describe('the descriptions of the schema', () => {
  const described = (coordinate: string): string => {
    const [type = '', field = ''] = coordinate.split('.');
    const owner = schema.getType(type);
    if (!isObjectType(owner)) throw new Error(`no type ${type}`);
    return `${owner.description} ${owner.getFields()[field]!.description}`.toLowerCase();
  };

  test('have the value of every limit that does not depend on a setting', async () => {
    const { data } = await facade().execute(document);
    const { firstMax, searchTextMaxLength, book, film, pictures } = data.service.limits;
    const { perMutation: _, ...others } = pictures as Record<string, number>;
    const groups = {
      ...{
        ServiceLimits: { firstMax, searchTextMaxLength },
        BookLimits: book,
        FilmLimits: film,
        PictureLimits: others,
      },
    } as Record<string, Record<string, number>>;
    for (const [type, values] of Object.entries(groups))
      for (const [name, value] of Object.entries(values))
        expect(described(`${type}.${name}`)).toContain(`: ${value.toLocaleString('en')}.`);
  });

  test('name the tiers of every field that not every tier gets', async () => {
    const { data } = await facade().execute(document);
    const gated = (data.service.fieldRequirements as Requirement[]).filter(
      (field) => field.tiers !== null && field.tiers.length < tiers.length,
    );
    expect(gated.length).toBeGreaterThan(30);
    const silent = gated.filter(({ coordinate, tiers: having }) => {
      const text = described(coordinate);
      const isNamed = having!.every((tier) => text.includes(tier.toLowerCase()));
      const isExcluded = tiers.some(
        (tier) => !having!.includes(tier.toUpperCase()) && text.includes(`the ${tier} tier cannot read`),
      );
      return !isNamed && !isExcluded;
    });
    expect(silent.map(({ coordinate }) => coordinate)).toEqual([]);
  });
});
