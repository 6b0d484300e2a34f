import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';

const alice = { token: 'alice' };

describe('an id that cannot be one', () => {
  test.each([
    ['{ book(id: "Subject:1") { id } }', 'id', 'Book'],
    ['{ searchEvents(cityId: "北京") { totalCount } }', 'cityId', 'City'],
    ['{ searchEvents(cityId: "Book:1") { totalCount } }', 'cityId', 'City'],
    ['{ inTheaters(city: "Book:1") { totalCount } }', 'city', 'City'],
    ['{ book(id: "1") { collection(userId: "Book:1") { id } } }', 'userId', 'User'],
    ['{ book(id: "1") { collection(userId: "a/b") { id } } }', 'userId', 'User'],
    ['{ nodes(ids: ["Nothing:1"]) { id } }', 'ids', 'object'],
    ['{ node(id: "Nothing:1") { id } }', 'id', 'object'],
  ])('is rejected by the name of its argument and the type that is expected: %s', async (query, argument, type) => {
    const { execute, service } = facade();
    service.intercept({ path: /^\/v2\/book\/1/ }).reply(200, { id: '1' });
    const { errors } = await execute(query);
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument } }]);
    expect(errors![0]!.message).toContain(type);
  });

  test('is rejected with the characters that an id consists of, since a city is no number', async () => {
    const { errors } = await facade().execute('{ city(id: "北京") { id } }');
    expect(errors![0]!.message).toBe('This is no id of the type City: one has Latin letters, digits and `_.~-` only.');
  });

  test.each([
    ['collectBook(input: { bookId: "Subject:1", status: READ }) { book { id } }', 'bookId', 'Book'],
    ['collectBook(input: { bookId: "a/b", status: READ }) { book { id } }', 'bookId', 'Book'],
    ['deleteNoteComment(input: { noteId: "1", commentId: "Book:2" }) { deletedId }', 'commentId', 'NoteComment'],
    ['deleteNoteComment(input: { noteId: "1", commentId: "NoteComment:2:3" }) { deletedId }', 'commentId', 'comment'],
    ['joinEvent(input: { id: "City:beijing" }) { event { id } }', 'id', 'Event'],
  ])('is rejected by its path in the input and the type that is expected: %s', async (mutation, field, type) => {
    const { execute, calls } = facade();
    const { errors } = await execute(`mutation { ${mutation} }`, alice);
    const { violations } = errors![0]!.extensions as { violations: { path: string[]; message: string }[] };
    expect(violations).toHaveLength(1);
    expect(violations[0]!.path).toEqual(['input', field]);
    expect(violations[0]!.message).toContain(type);
    expect(errors![0]!.message).toContain(`input.${field}: ${violations[0]!.message}`);
    expect(calls).toEqual([]);
  });
});

describe('the city of inTheaters', () => {
  test.each([
    ['City:beijing', 'beijing'],
    ['beijing', 'beijing'],
    ['City:108288', '108288'],
    ['108288', '108288'],
    ['北京', '北京'],
    [' 北京 ', '北京'],
    ['City:~%E5%8C%97%E4%BA%AC', '北京'],
  ])('may be an id, a global id or a name: %s', async (city, sent) => {
    const { service, execute } = facade({ accessToken: 'own', filmTier: 'advance' });
    service
      .intercept({ path: (path) => new URL(path, 'http://x').searchParams.get('city') === sent })
      .reply(200, { total: 1, subjects: [{ id: '7', title: '战狼' }] });
    const { data, errors } = await execute('query ($city: String) { inTheaters(city: $city) { nodes { title } } }', {
      variables: { city },
    });
    expect(errors).toBeUndefined();
    expect(data).toEqual({ inTheaters: { nodes: [{ title: '战狼' }] } });
  });

  test.each(['City:', 'City:a/b', 'City:北京', 'bei jing', 'City:~%', 'a/b', '!', 'city:beijing', 'Subject:1'])(
    'is rejected if it is neither: %j',
    async (city) => {
      const { execute, calls } = facade({ accessToken: 'own', filmTier: 'advance' });
      const { errors } = await execute('query ($city: String) { inTheaters(city: $city) { totalCount } }', {
        variables: { city },
      });
      expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument: 'city' } }]);
      expect(calls).toEqual([]);
    },
  );
});
