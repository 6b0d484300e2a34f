import { expect, test } from 'vitest';
import { facade } from '../support/facade.ts';

const alice = { token: 'alice' };
const book = { id: '7', title: '活着', tags: [{ name: '小说', title: '小说', count: 2 }] };
const collection = { id: 1, book_id: '7', book, status: 'wish', updated: '2026-11-20 10:00:00', user_id: 'alice' };

test('collecting a book says what the answer says, and costs one call', async () => {
  const { service, ask, calls } = facade();
  service
    .intercept({
      path: '/v2/book/7/collection',
      method: 'POST',
      body: 'status=wish&tags=%E5%B0%8F%E8%AF%B4+%E7%BB%8F%E5%85%B8&comment=%E5%A5%BD&privacy=private&rating=4',
      headers: { authorization: 'Bearer alice', 'content-type': 'application/x-www-form-urlencoded' },
    })
    .reply(201, { ...collection, rating: { max: 5, min: 0, value: '4' }, tags: ['小说', '经典'], comment: '好' });

  const answer = await ask(
    `mutation ($input: CollectBookInput!) { collectBook(input: $input) {
      created
      collection { id status comment book { title } }
      book { id title subtitle tags { name } viewerCollection { status tags comment rating { value } user { id } } }
    } }`,
    {
      ...alice,
      variables: {
        input: { bookId: 'Book:7', status: 'WISH', rating: 4, tags: ['小说', '经典'], comment: '好', private: true },
      },
    },
  );
  expect(answer).toEqual({
    data: {
      collectBook: {
        created: true,
        collection: { id: 'Collection:alice:7', status: 'WISH', comment: '好', book: { title: '活着' } },
        book: {
          id: 'Book:7',
          title: '活着',
          subtitle: null,
          tags: [{ name: '小说' }],
          viewerCollection: {
            status: 'WISH',
            tags: ['小说', '经典'],
            comment: '好',
            rating: { value: 4 },
            user: { id: 'User:alice' },
          },
        },
      },
    },
  });
  expect(calls).toEqual(['POST /v2/book/7/collection']);
});
