/** The directives of incremental delivery. */
import {
  DirectiveLocation,
  GraphQLBoolean,
  GraphQLDirective,
  GraphQLInt,
  GraphQLNonNull,
  GraphQLString,
} from 'graphql';

const label = { type: GraphQLString, description: 'Returned with the part to identify it.' };
const condition = (description: string) => ({
  type: new GraphQLNonNull(GraphQLBoolean),
  defaultValue: true,
  description,
});

export const deferDirective = new GraphQLDirective({
  name: 'defer',
  description:
    'The fields of the fragment may be delivered after the rest of the response, if the request accepts `multipart/mixed` or `text/event-stream`. They come with the rest if the response that has the rest has them too.',
  locations: [DirectiveLocation.FRAGMENT_SPREAD, DirectiveLocation.INLINE_FRAGMENT],
  args: { if: condition('If false, the fragment is delivered with the rest.'), label },
});

export const streamDirective = new GraphQLDirective({
  name: 'stream',
  description:
    'The items of the list may be delivered one after another, if the request accepts `multipart/mixed` or `text/event-stream`.',
  locations: [DirectiveLocation.FIELD],
  args: {
    if: condition('If false, all items are delivered with the rest.'),
    initialCount: {
      type: GraphQLInt,
      defaultValue: 0,
      description: 'The number of items that are delivered with the rest.',
    },
    label,
  },
});
