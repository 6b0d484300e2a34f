/** Rules of GraphQL and of Relay for the printed schema. Whatever breaks one is in the table of exceptions, with its reason. */
import graphql from '@graphql-eslint/eslint-plugin';

/** By rule: what breaks it, as a coordinate or the name of a type (`*Edge`: all types that end so), and why that stays. */
const exceptions = {
  'strict-id-in-types': {
    '*Connection': 'A page of a list has no identity: Relay keeps it in the field that has the list.',
    '*Edge': 'The place of a node in one page; its node has the id.',
    PageInfo: 'Part of a page, as Relay specifies it.',
    '*Changes': 'One step of keeping a copy; its nodes have ids.',
    '*Payload': 'The result of one write; the record in it has the id.',
    Attribution: 'A condition of use, which the data that it applies to has.',
    BookRating: 'A value of the book.',
    FilmRating: 'A value of the film.',
    UserRating: 'A value of the text or the collection that it stands in.',
    FilmTag: 'A word: the service gives tags no ids.',
    BookTag: 'A word, counted for one book: the service gives tags no ids.',
    UserBookTag: 'A word, counted for one person: the service gives tags no ids.',
    CelebrityWork: 'The roles of a person in a film: the service gives works no ids; the film has its own.',
    Coordinates: 'A value of the event.',
    Ebook: 'A value of the book.',
    Image: 'A value of the record that shows it.',
    PhotoAlbum: 'The id of an album is not accepted by any operation of the service.',
    ContentPhoto: 'Known by its number, inside one text.',
    '*Block': 'A part of a text.',
    TextSpan: 'A part of a paragraph.',
    '*Chart': 'There is one of its kind, and no other can be asked for.',
    '*Entry': 'The place of a film in a chart; the film has the id.',
    Service: 'There is one.',
    '*Limits': 'Values of `Service`.',
    FieldRequirement: 'Known by its coordinate.',
    RateLimit: 'Known by its tier.',
    RateBudget: 'A value of the viewer.',
    Viewer: 'The sender of the request, whose id may be unknown; `Viewer.user` has it.',
    PictureFailure: 'Known by the number of the picture in the input.',
  },
  'relay-edge-types': {
    CelebrityWorkEdge: 'The service gives works no ids.',
    FilmCommentEdge: 'No operation of the service reads a comment on a film by its id.',
    FilmReviewEdge: 'No operation of the service reads a review of a film by its id.',
    PhotoEdge: 'No operation of the service reads a photo by its id.',
    UserBookTagEdge: 'The service gives tags no ids.',
  },
  'no-typename-prefix': {
    'Content.content': 'One word for the text of notes, annotations and comments, and the one of the service.',
    'Note.noteComment': '`comment` is a text in other types, and one name has one type in all of them.',
    'Photo.photosCount': 'The number of photos in the album, not of the photo.',
    'Subject.subjectType': '`type` is that of an event, and one name has one type in all nodes.',
  },
};

/** The options of rules that are not kept as they come, and why. */
const options = {
  // Lists that are whole in their record (authors, tags, spans) have no pages, and `nodes` stands beside `edges` in every connection.
  'relay-edge-types': { listTypeCanWrapOnlyEdgeType: false },
  // Relay asks for one direction at least. A list that is ordered by time goes forward only: what is new comes in front of it.
  'relay-arguments': { includeBoth: false },
};

const used = new Set();

const isExcepted = (rule, coordinate) =>
  Object.keys(exceptions[rule] ?? {}).some((name) => {
    const fits = name.startsWith('*') ? coordinate.endsWith(name.slice(1)) : coordinate === name;
    if (fits) used.add(`${rule} ${name}`);
    return fits;
  });

function coordinateOf(node) {
  const names = [];
  for (let at = node; at; at = at.parent)
    if (/(?:Type|Field)Definition$/.test(at.type ?? at.kind)) names.unshift(at.name.value);
  return names.join('.');
}

/** The rule, without what the table excepts. */
const withExceptions = (name, rule) => ({
  ...rule,
  create: (context) =>
    rule.create(
      Object.create(context, {
        report: { value: (found) => isExcepted(name, coordinateOf(found.node)) || context.report(found) },
      }),
    ),
});

/** Reports exceptions that nothing needs any longer. */
const unusedExceptions = {
  meta: { schema: [] },
  create: (context) => ({
    'Document:exit'(node) {
      for (const [rule, names] of Object.entries(exceptions))
        for (const name of Object.keys(names))
          if (!used.has(`${rule} ${name}`))
            context.report({ node, message: `The exception of ${rule} for ${name} is not needed: remove it.` });
    },
  }),
};

const prefix = '@graphql-eslint/';
const recommended = {
  ...graphql.configs['flat/schema-recommended'].rules,
  ...graphql.configs['flat/schema-relay'].rules,
};
const rules = Object.fromEntries(
  Object.entries(graphql.rules).map(([name, rule]) => [name, withExceptions(name, rule)]),
);

export default [
  {
    files: ['schema.graphql'],
    plugins: { '@graphql-eslint': { rules: { ...rules, 'unused-exceptions': unusedExceptions } } },
    languageOptions: { parser: graphql.parser, parserOptions: { graphQLConfig: { schema: 'schema.graphql' } } },
    rules: {
      ...recommended,
      ...Object.fromEntries(Object.entries(options).map(([name, option]) => [prefix + name, ['error', option]])),
      [`${prefix}unused-exceptions`]: 'error',
    },
  },
];
