import { picture } from './service.ts';

/** A GraphQL multipart request: the name of each file is its path in the variables, such as `input.pictures.0.file`. */
export function uploadForm(
  query: string,
  variables: object,
  files: Readonly<Record<string, Blob>>,
  map: Record<string, string[]> = Object.fromEntries(Object.keys(files).map((path) => [path, [`variables.${path}`]])),
): FormData {
  const form = new FormData();
  form.set('operations', JSON.stringify({ query, variables }));
  form.set('map', JSON.stringify(map));
  for (const [path, file] of Object.entries(files)) form.set(path, file, 'picture');
  return form;
}

/** Inputs for pictures with these numbers, and their files. */
export function pictures(numbers: readonly number[], file: (number: number) => Blob = () => picture('png', 300)) {
  return {
    pictures: numbers.map((number) => ({ number, file: null })),
    files: Object.fromEntries(numbers.map((number, index) => [`input.pictures.${index}.file`, file(number)])),
  };
}
