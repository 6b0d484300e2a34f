/** What an extension of the graph is declared with: `import { Book, text } from 'catalog-graphql/extend'`. */
import type { builder } from './engine/builder.ts';
import './engine/fields/declare.ts';

/** What `extend` gets. */
export type Builder = typeof builder;

export type { Extend } from './extension/schema.ts';
export type { Fields, ListPage, Window } from './api/endpoint.ts';
export { membersOf } from './api/endpoint.ts';
export { endpoint, gives, takes } from './api/endpoint-table.ts';
export { type AddedService as Service, service } from './extension/service.ts';
export { Node, identity, queryById, referenceOf } from './engine/fields/node.ts';
export {
  count,
  countOrNull,
  dateTime,
  decoder,
  flag,
  orNull,
  text,
  textOrNull,
  texts,
  urlOrNull,
} from './engine/values/decode.ts';
export { Book } from './graph/book/book.ts';
export { City } from './graph/event/city.ts';
export { Event } from './graph/event/event.ts';
export { Celebrity } from './graph/film/celebrity.ts';
export { Subject } from './graph/film/subject.ts';
export { User } from './graph/types/user.ts';
