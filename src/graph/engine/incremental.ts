/** The directives by which a part of an answer may come later. */
import {
  DirectiveLocation,
  GraphQLBoolean,
  GraphQLDirective,
  GraphQLInt,
  GraphQLNonNull,
  GraphQLString,
} from 'graphql';

const label = { type: GraphQLString, description: 'Comes back with the part, to tell it from others.' };
const condition = (description: string) => ({
  type: new GraphQLNonNull(GraphQLBoolean),
  defaultValue: true,
  description,
});

export const deferDirective = new GraphQLDirective({
  name: 'defer',
  description:
    'What the fragment selects may come after the rest of the answer, where the request accepts `multipart/mixed` or `text/event-stream`.',
  locations: [DirectiveLocation.FRAGMENT_SPREAD, DirectiveLocation.INLINE_FRAGMENT],
  args: { if: condition('False: it comes with the rest.'), label },
});

export const streamDirective = new GraphQLDirective({
  name: 'stream',
  description: 'The items of the list may come one after another, where the request accepts pieces.',
  locations: [DirectiveLocation.FIELD],
  args: {
    if: condition('False: all items come with the rest.'),
    initialCount: { type: GraphQLInt, defaultValue: 0, description: 'How many items come with the rest.' },
    label,
  },
});
