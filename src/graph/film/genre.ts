import { RECORD_GENRES, filmEndpoints, simpleSubject } from '../../api/film.ts';
import { builder } from '../../engine/builder.ts';
import { asText, asTexts, decoder, text } from '../../engine/values/decode.ts';
import { Subject, isCappedSearch } from './subject.ts';

/** The service has no list of a genre: its search takes a genre as a tag. */
const FilmTag = builder.objectRef<{ name: string }>('FilmTag').implement({
  description: 'A word by which films can be found.',
  fields: (t) => ({
    name: t.reads('name', text, 'The word, in Chinese: 剧情, 犯罪.'),
    films: t.connection({
      type: Subject,
      description: 'The films with this tag, in the order of the service.',
      endpoint: filmEndpoints.search,
      from: ['name'],
      input: ({ name }) => ({ tag: name }),
      isEmpty: ({ name }) => asText(name).trim() === '',
      representation: simpleSubject,
      totalIsCapped: (page, viewer) => isCappedSearch(page, viewer, true),
    }),
  }),
});

const tagsOrNull = decoder(FilmTag, (genres) => asTexts(genres).map((name) => ({ name })), {
  list: true,
  nullIf: false,
});

builder.objectField(Subject, 'genreTags', (t) =>
  t.reads('genres', tagsOrNull, 'The `genres` as tags, which lead to other films of each.', {
    assumedSize: RECORD_GENRES,
  }),
);
