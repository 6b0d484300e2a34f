import { builder } from './builder.ts';
import { connectFields } from './arrive.ts';
import './ask.ts';
import './root.ts';
import './book/book.ts';
import './film/subject.ts';

/** The schema, its slices gathered and its fields joined to the engine. */
export const schema = connectFields(builder.toSchema());
