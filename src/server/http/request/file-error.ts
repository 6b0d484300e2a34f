import { HttpError } from '../response/http-error.ts';

/** Why a file of a request cannot be read, from an error of the library, its parser or their streams. */
export const fileError = (name: string, { message }: Error): HttpError =>
  new HttpError('BAD_UPLOAD', `The file ${named(name)} ${CAUSES[message] ?? `cannot be read: ${message}`}`);

/** What the messages of graphql-upload-minimal and of its parser mean for a file. */
const CAUSES: Readonly<Record<string, string>> = {
  'File missing in the request.': 'is in the map, but not in the request.',
  'Unexpected end of file': 'is incomplete: the request ended within it.',
  'Unexpected end of form': 'is incomplete: the request ended before the end of the form.',
  'Malformed part header': 'is incomplete: the headers of a part of the form are malformed.',
};

/** A name that a client has chosen, as messages show it. */
export const named = (name: string): string => JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);
