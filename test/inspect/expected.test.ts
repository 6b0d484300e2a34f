import { expect, test } from 'vitest';
import { shapes } from '../../generated/api-shapes.ts';
import { unreadMembers } from '../../src/inspect/expected.ts';
import { membersOfFields, membersOfShape } from '../support/read-members.ts';

test('no member that is listed as unread is read, neither by a field nor by paging', () => {
  const read = Object.entries(unreadMembers).flatMap(([shape, names]) =>
    names.filter((name) => membersOfShape(shape).has(name)).map((name) => `${shape}.${name}`),
  );
  expect(read).toEqual([]);
});

test('every record with unread members is a type of the interface', () => {
  expect(Object.keys(unreadMembers).filter((shape) => shapes[shape] === undefined)).toEqual([]);
});

test('a member is known to be read from the type, the fields and the pages', () => {
  expect(membersOfShape('FilmRating')).toContain('average');
  expect(membersOfFields('Subject')).toEqual(expect.arrayContaining(['aka', 'ratings_count', 'popular_reviews']));
  expect(membersOfShape('FilmReviewPage')).toContain('next_start');
});
