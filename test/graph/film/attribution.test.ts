import { describe, expect, test } from 'vitest';
import { facade } from '../../support/facade.ts';
import { serve } from '../../support/serve.ts';

const film = {
  ...{ id: '7', title: '活着', alt: 'https://movie.example/subject/7/', rating: { average: 9.3, stars: '45' } },
  popular_reviews: [
    { id: '5', title: '好', alt: 'https://movie.example/review/5/', subject_id: '7', rating: { value: 5 } },
  ],
};
const fields = 'attribution { label entryUrl showWith showApartFrom tiers }';

describe('the attribution of film data', () => {
  test('is a field of a film, its rating and its reviews, and costs no further call', async () => {
    const { service, execute, calls } = facade({ serviceName: '书影音' });
    serve(service, { '/v2/movie/subject/7': { body: film } });
    const { data, errors } = await execute(
      `{ subject(id: 7) { ${fields} rating { average ${fields} } reviews { nodes { id ${fields} } } } }`,
      { token: 'carol' },
    );
    expect(errors).toBeUndefined();
    const entryUrl = film.alt;
    const common = { label: '书影音', tiers: ['PREMIUM'] };
    const { attribution, rating, reviews } = data.subject;
    expect(attribution).toEqual({
      ...{ ...common, entryUrl, showWith: ['RATING', 'LABEL', 'ENTRY_LINK'], showApartFrom: ['OTHER_PROVIDERS_DATA'] },
    });
    expect(rating.attribution).toEqual({
      ...{ ...common, entryUrl, showWith: ['LABEL'], showApartFrom: ['OTHER_PROVIDERS_RATINGS'] },
    });
    expect(reviews.nodes[0].attribution).toEqual({
      ...{
        ...common,
        entryUrl: 'https://movie.example/review/5/',
        showWith: ['LABEL'],
        showApartFrom: ['OTHER_PROVIDERS_REVIEWS'],
      },
    });
    expect(calls).toHaveLength(1);
  });

  test('costs no call per item of a list', async () => {
    const { service, execute, calls } = facade();
    serve(service, {
      '/v2/movie/top250': { list: 'subjects', body: { start: 0, count: 10, total: 1, subjects: [film] } },
    });
    const { data } = await execute(
      '{ top250 { nodes { attribution { label entryUrl } rating { attribution { entryUrl } } } } }',
    );
    const entryUrl = film.alt;
    expect(data.top250.nodes).toEqual([
      { attribution: { label: 'the catalog service', entryUrl }, rating: { attribution: { entryUrl } } },
    ]);
    expect(calls).toHaveLength(1);
  });
});
